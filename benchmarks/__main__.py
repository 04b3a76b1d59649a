"""``python -m benchmarks [NAME …]``: print the tables of the named benchmarks, or of all in `BENCHMARKS`."""

from __future__ import annotations

import sys

from benchmarks import cold, data, diff, inference, layout, picture, site, trace, watch, ways
from benchmarks.browser import catalogue, widget

BENCHMARKS = {
    "trace": trace.main,
    "cold": cold.main,
    "data": data.main,
    "picture": picture.main,
    "layout": layout.main,
    "diff": diff.main,
    "site": site.main,
    "widget": widget.main,
    "catalogue": catalogue.main,
    "inference": inference.main,
    "watch": watch.main,
    "ways": ways.main,
}


def main() -> int:
    """Run the named benchmarks, or all.

    Returns:
        Exit code: 2 for a name that does not exist.
    """
    names = sys.argv[1:] or list(BENCHMARKS)
    if unknown := [name for name in names if name not in BENCHMARKS]:
        print(f"unknown benchmark {unknown[0]!r}; there are: {', '.join(BENCHMARKS)}", file=sys.stderr)
        return 2
    for name in names:
        BENCHMARKS[name]()
    return 0


sys.exit(main())
