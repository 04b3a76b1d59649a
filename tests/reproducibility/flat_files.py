"""Files with the picture of a graph, made without PyTorch: ``python flat_files.py graph.json folder``."""

from __future__ import annotations

import sys
from pathlib import Path

import modeldiagrams


def contents(file: Path) -> dict[str, bytes]:
    """Name → content."""
    graph = modeldiagrams.load(file)
    return {
        "one.svg": modeldiagrams.to_svg(graph, flat=True).encode(),
        "one.png": modeldiagrams.to_png(graph),
        "one.pdf": modeldiagrams.to_pdf(graph),
    }


if __name__ == "__main__":
    for name, content in contents(Path(sys.argv[1])).items():
        (Path(sys.argv[2]) / name).write_bytes(content)
