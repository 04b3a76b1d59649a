"""Build the documentation twice, with Sphinx (Furo) and MkDocs (Material), and print where to open each.

``python docs/build.py [--gallery] [output folder]``
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).parent


def main(output: Path, *, gallery: bool) -> int:
    """Build both sites with warnings as errors.

    Args:
        output: The folder for the sites, in subfolders `sphinx` and `mkdocs`.
        gallery: Whether to build the page with many architectures too.

    Returns:
        The exit code: 0 if both were built.
    """
    sphinx = ["-W", "--keep-going", "-q", "-c", DOCS, "-d", output / ".doctrees", DOCS / "pages", output / "sphinx"]
    mkdocs = ["build", "--strict", "-f", DOCS / "mkdocs.yml", "-d", output / "mkdocs"]
    # otherwise Material for MkDocs advertises its successor on every build
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"} | ({"MODELDIAGRAMS_GALLERY": "1"} if gallery else {})
    for name, command in (("Sphinx (Furo)", ["sphinx", *sphinx]), ("MkDocs (Material)", ["mkdocs", *mkdocs])):
        print(f"Building the site with {name}; the first time takes a minute …", flush=True)
        if code := subprocess.run([sys.executable, "-m", *command], check=False, env=environment).returncode:
            return code
    print("\nThe same documentation, built by two tools. Open:")
    for name in ("sphinx", "mkdocs"):
        print(f"  {(output / name / 'index.html').resolve().as_uri()}")
    return 0


if __name__ == "__main__":
    folders = [Path(argument) for argument in sys.argv[1:] if argument != "--gallery"]
    sys.exit(main(*folders or [DOCS / "_build"], gallery="--gallery" in sys.argv))
