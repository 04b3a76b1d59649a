"""Trace the models of the pages in `examples/catalogue` anew: ``python docs/catalogue.py [models at a time]``.

Builds of the documentation take the graphs from `model-graphs`. This writes them like ``modeldiagrams snapshot`` of a
site that has only these pages, and leaves those of unchanged models as they are. It needs torchvision and transformers.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import yaml

import modeldiagrams

DOCS = Path(__file__).parent.absolute()


def main(jobs: int | None) -> int:
    """Trace the models, several at a time; return the exit code: 0 if all could be traced."""
    plugin = {"snapshots": str(DOCS / "model-graphs"), "timeout": 900}
    pages = str(DOCS / "pages" / "examples" / "catalogue")
    site = {"site_name": "Catalogues", "docs_dir": pages, "plugins": [{"modeldiagrams": plugin}]}
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "mkdocs.yml").write_text(yaml.safe_dump(site), "utf-8")
        report = modeldiagrams.snapshot(folder, jobs=jobs, prune=True)
    for what in ("written", "stale", "less", "missing"):
        print(f"{what}:", *(path.name for path in getattr(report, what)))
    return bool(report.missing or report.less)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else None))
