"""The work tree of a project, in which builds must leave no untracked file."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

WHO = {f"GIT_{role}_{what}": "x@example.org" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
NOBODY = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}


def git(folder: Path, *command: str | Path) -> str:
    environment = {**os.environ, **WHO, **NOBODY}
    return subprocess.run(
        ["git", *command], cwd=folder, env=environment, check=True, capture_output=True, text=True
    ).stdout


def commit(folder: Path) -> None:
    """Commit all files of a folder, except what every project with Python code ignores."""
    (folder / ".gitignore").write_text("__pycache__/\nsite/\n")
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", "sources")


def changes(folder: Path) -> str:
    """What was added and changed since."""
    return git(folder, "status", "--porcelain", "--untracked-files=all")
