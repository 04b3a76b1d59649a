"""The same page for every host with all that an author may say of a model: options, notes, tour, words, code."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from pathlib import Path

import yaml

from hosts.builders import mkdocs_build, sphinx_build
from hosts.environments import environment, make_wheel
from hosts.fork_server import Tools

__all__ = ["HOSTS", "build"]

MODEL = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Linear(4, 4)
        self.left = nn.Linear(4, 4)
        self.right = nn.Linear(4, 4)
        self.norm = nn.LayerNorm(4)
        self.drop = nn.Dropout()
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        x = self.stem(x)
        x = self.left(x) + self.right(x)
        x = self.drop(self.norm(x))
        return self.head(torch.relu(x))
"""
OPTIONS = {
    "inputs": [1, 4],
    "depth": 1,
    "caption": "A *net*.",
    "rename": {"head": "Classifier"},
    "hide": ["Dropout"],
    "group": {"Branches": ["left", "right"]},
    "highlight": ["norm"],
    "fade": ["relu"],
    "kind": {"norm": "attention"},
    "order": {"Branches": ["right", "left"]},
    "arrange": {"Branches": "row"},
}
PROSE = "What a teacher says of this part, in words that fill some lines of a page. " * 6
STEPS = (("The whole", {}), ("The stem", {"highlight": "stem"}), ("The *end*", {"focus": "head"}))


def _fields(options: dict[str, object]) -> str:
    return "\n".join(
        f":{name}: {value if isinstance(value, str) else json.dumps(value)}" for name, value in options.items()
    )


def _indented(text: str, by: int = 3) -> str:
    return textwrap.indent(text, " " * by)


def _plain(options: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in options.items() if isinstance(value, (str, int))}


def _rst() -> str:
    nested = {name: value for name, value in OPTIONS.items() if name not in _plain(OPTIONS)}
    steps = (f".. tour-step:: {title}\n{_indented(_fields(shows))}\n\n   {PROSE}\n" for title, shows in STEPS)
    note = ".. model-note:: stem\n\n   Where it *begins*; see :model:part:`the end <head>`.\n"
    return "\n".join(
        (
            "Index\n=====\n\nLook at :model:part:`the stem <stem>`.\n",
            f".. model-graph:: own.Net\n{_indented(_fields(_plain(OPTIONS)))}\n",
            f"{_indented(yaml.safe_dump(nested))}\n{_indented(note)}",
            ".. toctree::\n   :hidden:\n\n   myst\n",
            "Tour\n----\n\n.. model-tour:: own.Net\n   :inputs: [1, 4]\n   :depth: 0\n",
            f"{_indented(''.join(steps))}\n{PROSE}",
        )
    )


def _myst() -> str:
    nested = {name: value for name, value in OPTIONS.items() if name not in _plain(OPTIONS)}
    steps = (f":::{{tour-step}} {title}\n{_fields(shows)}\n\n{PROSE}\n:::\n" for title, shows in STEPS)
    note = "```{model-note} stem\nWhere it *begins*; see {model:part}`the end <head>`.\n```\n"
    return "\n".join(
        (
            "# MyST\n\nLook at {model:part}`the stem <stem>`.\n",
            f"````{{model-graph}} own.Net\n:no-index:\n{_fields(_plain(OPTIONS))}\n",
            f"{yaml.safe_dump(nested)}\n{note}````\n",
            f"## Tour\n\n::::{{model-tour}} own.Net\n:no-index:\n:inputs: [1, 4]\n:depth: 0\n\n{''.join(steps)}::::\n",
            f"\n{PROSE}\n",
        )
    )


def _markdown() -> str:
    noted = {"model": "own.Net", **OPTIONS, "notes": {"stem": "Where it *begins*; see [the end](model:head)."}}
    steps = (f"//// tour-step | {title}\n{_block(shows)}\n{PROSE}\n////\n\n" for title, shows in STEPS)
    return "\n".join(
        (
            "# Index\n\nLook at [the stem](model:stem).\n",
            f"```model-graph\n{yaml.safe_dump(noted)}```\n",
            f"## Tour\n\n/// model-tour | own.Net\n{_block({'inputs': [1, 4], 'depth': 0})}\n{''.join(steps)}///\n",
            f"\n{PROSE}\n",
        )
    )


def _block(options: dict[str, object]) -> str:
    return _indented(yaml.safe_dump(options), 4) if options else ""


_CONF = """
import pathlib, sys
sys.path.insert(0, str(pathlib.Path(__file__).parent))
extensions = ["myst_parser", "sphinx_modeldiagrams"]
myst_enable_extensions = ["colon_fence"]
html_theme = "furo"
"""
_PALETTE = [
    {"media": f"(prefers-color-scheme: {name})", "scheme": scheme}
    for name, scheme in (("light", "default"), ("dark", "slate"))
]


def _sphinx(folder: Path, tools: Tools) -> Path:
    (folder / "conf.py").write_text(_CONF)
    (folder / "own.py").write_text(MODEL)
    (folder / "index.rst").write_text(_rst())
    (folder / "myst.md").write_text(_myst())
    done = sphinx_build(tools["sphinx"])(folder, folder / "out", "-W")
    assert done.returncode == 0, done.stderr
    return folder / "out"


def _mkdocs_sources(folder: Path, theme: dict[str, object], **config: object) -> None:
    (folder / "docs").mkdir()
    (folder / "own.py").write_text(MODEL)
    (folder / "docs" / "index.md").write_text(_markdown())
    common = {"site_name": "x", "theme": {"palette": _PALETTE, **theme}}
    (folder / "mkdocs.yml").write_text(yaml.safe_dump({**common, **config}))


def _mkdocs(folder: Path, tools: Tools) -> Path:
    _mkdocs_sources(folder, {"name": "material", "font": False}, plugins=["modeldiagrams"])
    done = mkdocs_build(tools["mkdocs"])(folder, folder / "out", "-q", "--strict")
    assert done.returncode == 0, done.stderr
    return folder / "out"


def _zensical(folder: Path, _tools: Tools) -> Path:
    """In an environment of its own; PyTorch stays in ours."""
    python = environment(folder / "venv", make_wheel(folder / "wheel"), "zensical")
    settings = {"pymdownx.superfences": {}, "modeldiagrams": {"python": sys.executable, "on_error": "raise"}}
    _mkdocs_sources(folder, {"font": False}, markdown_extensions=settings)
    command = [python, "-m", "zensical", "build", "--strict", "--clean", "-f", folder / "mkdocs.yml"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "site"


_BUILDERS = {"sphinx": _sphinx, "mkdocs": _mkdocs, "zensical": _zensical}
HOSTS = {"rst": ("sphinx", "index.html"), "myst": ("sphinx", "myst.html")} | {
    name: (name, "index.html") for name in ("mkdocs", "zensical")
}
"""Markup → who builds it, and the page."""


def build(name: str, folder: Path, tools: Tools) -> Path:
    """The folder of a built site."""
    return _BUILDERS[name](folder, tools)
