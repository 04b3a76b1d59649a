"""Installs what pyproject.toml names, but not ourselves, with uv: in a third of pip's time.

A head start and no more: pip, which comes next, brings what is missing. So uv is left out where pip has settings
that uv would not heed.
"""

import ast
import os
import re
import subprocess
import sys

CHOICES = {"constraint", "extra-index-url", "find-links", "index-url"}
"""Settings that say where packages come from: uv has options of the same names, but reads no settings of pip."""
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
"""Settings that don't change which packages are installed."""
SECTIONS = ("global", "install", ":env:")
"""Later ones win."""


def main() -> None:
    """Install packages; arguments are options of pip."""
    settings = pip_settings()
    if unknown := settings.keys() - CHOICES - MANNERS:
        sys.exit(f"pip alone installs packages, as it is configured: {', '.join(sorted(unknown))}")
    run("pip", "install", "--quiet", "uv")
    if "cert" in settings:
        os.environ["SSL_CERT_FILE"] = settings["cert"]
    chosen = [f"--{name}={value}" for name in sorted(CHOICES & settings.keys()) for value in settings[name].split()]
    here = f"--python={sys.executable}"  # also where `UV_SYSTEM_PYTHON` is set
    # as pip does, the best version from all indexes
    run("uv", "pip", "install", "--quiet", here, "--index-strategy=unsafe-best-match", *chosen, *sys.argv[1:])


def run(*command: str) -> str:
    """What a module prints that runs as a program in this environment."""
    program = [sys.executable, "-m", *command]
    return subprocess.run(program, check=True, stdout=subprocess.PIPE, text=True).stdout  # noqa: S603


def pip_settings() -> dict[str, str]:
    """What pip heeds when it installs."""
    # verbose, as a quiet pip prints no settings; then other lines stand between them
    lines = re.findall(r"^\S+\.\S+='.*'$", run("pip", "-vvv", "config", "list"), re.MULTILINE)
    rows = [line.partition("=")[::2] for line in lines]
    found = [(*name.rpartition(".")[::2], ast.literal_eval(value)) for name, value in rows]
    return {name: value for part in SECTIONS for section, name, value in found if section == part}


if __name__ == "__main__":
    main()
