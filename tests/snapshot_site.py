"""A documentation of four models for tests of `snapshot`."""

from __future__ import annotations

from pathlib import Path

_MODELS = """
import time
from torch import nn

class One(nn.Sequential):
    def __init__(self, size=1):
        super().__init__(*(nn.Linear(4, 4) for _ in range(size)))

    def forward(self, x):
        time.sleep({seconds})
        return super().forward(x)

class Two(One):
    def __init__(self):
        super().__init__(2)

class Three(One):
    def __init__(self):
        super().__init__(3)

class Bad(One):
    def forward(self, x):
        raise ValueError("no")
"""
NAMES = ("One", "Two", "Bad", "Three")


def write_site(folder: Path, seconds: float = 0) -> None:
    (folder / "nets.py").write_text(_MODELS.format(seconds=seconds), "utf-8")
    (folder / "docs").mkdir()
    (folder / "mkdocs.yml").write_text("site_name: x\nplugins: [modeldiagrams]\n", "utf-8")
    page = "\n".join(f"```model-graph\nmodel: nets.{name}\ninputs: [1, 4]\n```\n" for name in NAMES)
    (folder / "docs" / "index.md").write_text(page, "utf-8")


def read_graphs(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / "model-graphs").iterdir()}


def forget(folder: Path) -> None:
    """Remove graphs and cache."""
    for path in [*(folder / "model-graphs").glob("*"), *(folder / ".cache").rglob("*.json")]:
        path.unlink()
