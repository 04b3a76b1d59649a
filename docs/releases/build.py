"""Build the documentation of a small package in three releases, with Sphinx and mike, for readers to compare.

``python docs/releases/build.py [output folder]``
"""

from __future__ import annotations

import io
import json
import os
import shlex
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

HERE = Path(__file__).parent
RELEASES = {"1.0": "2025-03-01", "1.1": "2025-09-01", "2.0": "2026-04-01"}
"""The date of each version's tag."""


def main(output: Path) -> None:
    """Write `sphinx` and `mkdocs`, each with all versions, and the repository they are built from.

    Args:
        output: The folder, which is emptied first.
    """
    print("Building the documentation of three releases …", flush=True)
    shutil.rmtree(output, ignore_errors=True)
    repository = output / "repository"
    repository.mkdir(parents=True)
    _run(["git", "init", "-q", "-b", "main"], repository)
    previous = ""
    for version in RELEASES:
        _release(repository, version, previous)
        _run([sys.executable, "-m", "sphinx", "-W", "-q", "pages", output / "sphinx" / version], repository)
        _run(["mike", "-q", "deploy", "--update-aliases", version, "latest"], repository, version)
        previous = version
    _run(["mike", "-q", "set-default", "latest"], repository)
    _unpack(repository, output / "mkdocs")
    versions = [{"version": version, "url": f"/sphinx/{version}/"} for version in RELEASES]
    (output / "sphinx" / "switcher.json").write_text(json.dumps(versions), "utf-8")
    print("\nA package in three releases. Browsers compare versions only if a server sends them:")
    print(f"  {shlex.join([sys.executable, '-m', 'http.server', '--bind', '127.0.0.1', '--directory', str(output)])}")
    print("Then open http://127.0.0.1:8000/sphinx/2.0/ or http://127.0.0.1:8000/mkdocs/2.0/")


def _release(repository: Path, version: str, previous: str) -> None:
    """Commit a version of the package with the graph of its model, and tag it."""
    shutil.copy(HERE / "models" / f"smallnet_{version.replace('.', '_')}.py", repository / "smallnet.py")
    shutil.copytree(HERE / "pages", repository / "pages", dirs_exist_ok=True)
    shutil.copy(HERE / "mkdocs.yml", repository)
    shutil.copy(HERE / "conf.py", repository / "pages")
    (repository / "VERSION").write_text(version, "utf-8")
    (repository / ".gitignore").write_text(".cache/\n__pycache__/\nsite/\n", "utf-8")
    changes = repository / "pages" / "changes.md"
    changes.write_text(changes.read_text("utf-8").replace("{previous}", f"v{previous}"), "utf-8")
    if not previous:
        changes.unlink()
    _run([sys.executable, "-m", "modeldiagrams", "snapshot", "."], repository)
    _run(["git", "add", "-A"], repository)
    _run(["git", "commit", "-q", "-m", f"Release {version}"], repository, version)
    _run(["git", "tag", f"v{version}"], repository, version)


def _run(command: Sequence[str | Path], folder: Path, version: str = "") -> bytes:
    """Run a program of the demo.

    Args:
        command: The command.
        folder: The working directory.
        version: The release that dates its commits.
    """
    names = {f"GIT_{who}_{what}": "demo" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    date = f"{RELEASES.get(version, '2026-04-01')}T12:00:00+00:00"
    dates = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
    # find mike and mkdocs in this environment, which may not be active
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, **names, **dates, "PATH": path, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=folder, env=environment, check=False, capture_output=True)
    if done.returncode:
        sys.exit(f"{shlex.join(map(str, command))}\n{done.stderr.decode('utf-8', 'replace')}")
    return done.stdout


def _unpack(repository: Path, folder: Path) -> None:
    """Unpack the site that mike committed."""
    packed = _run(["git", "archive", "gh-pages"], repository)
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(folder, filter="data")


if __name__ == "__main__":
    main(Path(*sys.argv[1:] or [HERE.parent / "_build" / "releases"]).resolve())
