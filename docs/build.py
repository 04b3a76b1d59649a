"""Build the demo site twice, with Sphinx (Furo) and with MkDocs (Material), and say where to open each."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).parent
OUTPUT = DOCS / "_build"


def main() -> int:
    """Build both sites with every warning an error.

    Returns:
        Exit code: 0 if both were built.
    """
    sites = {
        "Sphinx (Furo)": (
            OUTPUT / "sphinx",
            ["sphinx", "-W", "--keep-going", "-q", "-d", OUTPUT / ".doctrees", DOCS / "sphinx", OUTPUT / "sphinx"],
        ),
        "MkDocs (Material)": (
            OUTPUT / "mkdocs",
            ["mkdocs", "build", "--strict", "-f", DOCS / "mkdocs.yml", "-d", OUTPUT / "mkdocs"],
        ),
    }
    for name, (_, command) in sites.items():
        print(f"Building the site with {name} …", flush=True)
        # Material for MkDocs advertises its successor on every build otherwise
        environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
        if code := subprocess.run([sys.executable, "-m", *command], check=False, env=environment).returncode:
            return code
    print("\nThe same documentation, built by two tools. Open:")
    for name, (folder, _) in sites.items():
        print(f"  {name:18} {(folder / 'index.html').as_uri()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
