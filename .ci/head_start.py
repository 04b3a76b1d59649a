"""Installs the dependencies in pyproject.toml with uv, in a third of pip's time.

This is only a head start: pip runs next and installs what is missing. So uv is skipped if pip has settings that uv
would ignore.
"""

import ast
import os
import re
import subprocess
import sys

CHOICES = {"constraint", "extra-index-url", "find-links", "index-url"}
"""Settings for the sources of packages; uv has options of the same names, but doesn't read pip's settings."""
MANNERS = {
    "cert",
    "default-timeout",
    "disable-pip-version-check",
    "no-color",
    "progress-bar",
    "quiet",
    "retries",
    "timeout",
    "verbose",
}
"""Settings that don't affect which packages are installed."""
SECTIONS = ("global", "install", ":env:")
"""Later sections win."""


def main() -> None:
    """Install packages; arguments are options of pip."""
    settings = pip_settings()
    if unknown := settings.keys() - CHOICES - MANNERS:
        sys.exit(f"uv is skipped because of pip's settings: {', '.join(sorted(unknown))}")
    run("pip", "install", "--quiet", "uv")
    if "cert" in settings:
        os.environ["SSL_CERT_FILE"] = settings["cert"]
    chosen = [f"--{name}={value}" for name in sorted(CHOICES & settings.keys()) for value in settings[name].split()]
    here = f"--python={sys.executable}"  # even if `UV_SYSTEM_PYTHON` is set
    # like pip, take the best version from all indexes
    run("uv", "pip", "install", "--quiet", here, "--index-strategy=unsafe-best-match", *chosen, *sys.argv[1:])


def run(*command: str) -> str:
    """Run a module as a program in this environment, and return its output."""
    program = [sys.executable, "-m", *command]
    return subprocess.run(program, check=True, stdout=subprocess.PIPE, text=True).stdout  # noqa: S603


def pip_settings() -> dict[str, str]:
    """Return pip's settings for installing."""
    # verbose, because a quiet pip prints no settings; this adds other lines in between
    lines = re.findall(r"^\S+\.\S+='.*'$", run("pip", "-vvv", "config", "list"), re.MULTILINE)
    rows = [line.partition("=")[::2] for line in lines]
    found = [(*name.rpartition(".")[::2], ast.literal_eval(value)) for name, value in rows]
    return {name: value for part in SECTIONS for section, name, value in found if section == part}


if __name__ == "__main__":
    main()
