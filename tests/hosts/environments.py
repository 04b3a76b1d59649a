"""Separate environments for documentation tools that can't be installed together."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

__all__ = ["environment", "listing", "make_wheel"]

ROOT = Path(__file__).parents[2]


def make_wheel(out: Path) -> Path:
    """Our wheel, built into a folder."""
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", out, ROOT]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    (path,) = out.glob("*.whl")
    return path


def environment(folder: Path, *packages: object, interpreter: object = sys.executable) -> Path:
    """An environment with these packages; its interpreter."""
    subprocess.run([interpreter, "-m", "venv", "--without-pip", folder], check=True)
    python = folder / "bin" / "python"
    subprocess.run([*_pip(python), "install", "--quiet", "--no-compile", *packages], check=True)
    return python


def listing(python: Path) -> str:
    """What is installed in an environment."""
    return subprocess.run([*_pip(python), "list"], check=True, capture_output=True, text=True).stdout


def _pip(python: Path) -> list[object]:
    """The command; one of its own in each environment would take seconds more."""
    return [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python]
