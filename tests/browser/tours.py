"""A page with a tour, and what readers see of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import markdown

from browser.pages import HEAD
from browser.versions import network
from modeldiagrams.ir.serialize import save
from modeldiagrams.markdown import extension

if TYPE_CHECKING:
    from pathlib import Path

PROSE = "What a teacher says of this part, in words that fill some lines of a page. " * 6
STEPS = (
    ("The whole", {}),
    ("The stem", {"highlight": "stem"}),
    ("A block", {"open": "blocks.1", "focus": "blocks.1"}),
    ("Alone", {"alone": "blocks.0", "lens": "parameters"}),
    ("The end", {"highlight": ["head"]}),
)
NO_SCRIPT = {"java_script_enabled": False}
PHONE = {"has_touch": True, "is_mobile": True, "viewport": {"width": 360, "height": 640}}

CURRENT = "() => [...document.querySelectorAll('.mg-step')].findIndex(step => step.ariaCurrent === 'step')"
SHOWN = """() => {
  const root = document.querySelector('model-graph').shadowRoot;
  const nodes = [...root.querySelectorAll('.mg-stage [data-id]')];
  return {
    nodes: nodes.map(node => node.dataset.id),
    lit: nodes.filter(node => node.matches('.mg-told .mg-light')).map(node => node.dataset.id),
  };
}"""


def write_tour(folder: Path) -> None:
    """Write ``tour.html`` and its files, as Python-Markdown makes them.

    ``clipped.html`` is the same in a box that clips, as some themes have it.
    """
    save(network(blocks=2), folder / "net.json")
    steps = "\n\n".join(_step(title, options) for title, options in STEPS)
    text = f"# Tour\n\n/// model-tour | net.json\n    depth: 0\n\n{steps}\n///\n\n{PROSE}"
    body = _converted(folder, text)
    for name, style in {"tour": "", "clipped": "overflow: auto"}.items():
        text = f'{HEAD}<title>Tour</title>\n<main style="{style}">{body}</main>\n'
        (folder / f"{name}.html").write_text(text, encoding="utf-8")


def write_parts(folder: Path) -> None:
    """Write ``parts.html``, whose words speak of the stem and of what a block holds."""
    save(network(blocks=2), folder / "net.json")
    words = "# Parts\n\nFirst [the stem](model:stem), then [*an activation*](model:net.json#blocks.1.up)."
    body = _converted(folder, f"{words}\n\n```model-graph\nmodel: net.json\ndepth: 0\n```\n")
    # as Sphinx documents classes
    inner = '<dl><dt id="pkg.Network.stem">stem</dt><dd>The first.</dd></dl>'
    body += '<dl><dt id="pkg.Block">class Block</dt><dd>Part of a net.</dd></dl>'
    body = f'<dl><dt id="pkg.Network">class Network</dt><dd>{body}{inner}</dd></dl>'
    (folder / "parts.html").write_text(f"{HEAD}<title>Parts</title>\n<main>{body}</main>\n", encoding="utf-8")


def _converted(folder: Path, text: str) -> str:
    settings = {"folder": str(folder), "site_dir": str(folder), "page": "tour.html"}
    try:
        return markdown.markdown(text, extensions=["modeldiagrams"], extension_configs={"modeldiagrams": settings})
    finally:
        extension._services.close()


def _step(title: str, options: dict[str, object]) -> str:
    head = "\n".join(f"    {name}: {json.dumps(value)}" for name, value in options.items())
    return f"//// tour-step | {title}\n{head}\n\n{PROSE}\n////"
