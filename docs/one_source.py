"""Prepares the pages of both sites, which share Markdown files and navigation, except for a few blocks.

``conf.py`` (Sphinx) and ``mkdocs.yml`` (as a hook) pass every page through `prepare`, which supports three comments:

- ``<!-- only sphinx -->`` … ``<!-- end -->``: a block for one host, ``sphinx`` or ``mkdocs``;
- ``<!-- reference options -->``: a reference generated from the code by the function ``options`` in ``reference.py``;
- ``<!-- navigation -->``: Sphinx's tables of contents, generated from ``nav`` in ``mkdocs.yml``.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import reference
import yaml

from modeldiagrams.options.reading import yaml_line

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

DOCS = Path(__file__).parent
GALLERY = "examples/gallery.md"
"""A page of three dozen models, which takes minutes; built only by ``make gallery``."""
SLOW = "MODELDIAGRAMS_GALLERY"
"""The environment variable that is set to build the gallery."""

_ONLY = re.compile(r"^<!-- only (\w+) -->\n(.*?)^<!-- end -->\n", re.DOTALL | re.MULTILINE)
_REFERENCE = re.compile(r"^<!-- reference (\w+) -->$", re.MULTILINE)
_NAVIGATION = "<!-- navigation -->"
_FENCED = re.compile(r"(^(`{3,})[^`\n]*\n.*?^\2`*$)", re.DOTALL | re.MULTILINE)
_PART = re.compile(r"\[([^\]\n]+)\]\(model:([^)\n]+)\)")
_BLOCK = re.compile(
    r"^(?P<slashes>/{3,})(?: (?P<name>[\w-]+)(?: \| (?P<argument>.*))?(?P<options>(?:\n    .*)*))?$",
    re.MULTILINE,
)


def prepare(text: str, host: str) -> str:
    """Prepare a page for one host.

    Args:
        text: The file's content.
        host: ``sphinx`` or ``mkdocs``.
    """
    text = _ONLY.sub(lambda block: block[2] if block[1] == host else "", text)
    text = _REFERENCE.sub(lambda mark: getattr(reference, mark[1])(), text)
    return _convert_for_sphinx(text) if host == "sphinx" else text.replace(_NAVIGATION, "")


def _convert_for_sphinx(text: str) -> str:
    """Insert tables of contents, and convert blocks and links outside fences."""
    parts = _FENCED.split(text.replace(_NAVIGATION, _build_toctrees()))
    return "".join(part if _FENCED.match(part) else _convert_to_myst(part) for part in parts)


def _convert_to_myst(text: str) -> str:
    """Convert blocks of pymdownx to directives, and links to nodes of diagrams to roles."""
    return _PART.sub(r"{model:part}`\1 <\2>`", _BLOCK.sub(_convert_block, text))


def _convert_block(block: re.Match[str]) -> str:
    """Convert the head or end of a block: ``/// model-tour | mypkg.Net`` → ``:::::::{model-tour} mypkg.Net``."""
    fence = ":" * (10 - len(block["slashes"]))
    if not block["name"]:
        return fence
    options = yaml.safe_load(block["options"] or "") or {}
    fields = "".join(f":{name}: {yaml_line(value)}\n" for name, value in options.items())
    return f"{fence}{{{block['name']}}} {block['argument'] or ''}\n{fields}"


def navigation() -> list[Any]:
    """Read ``nav`` in ``mkdocs.yml``: the front page, then a map of title to pages for each section."""
    entries: list[Any] = yaml.safe_load((DOCS / "mkdocs.yml").read_text("utf-8"))["nav"]
    if SLOW not in os.environ:
        for section in entries[1:]:
            for pages in section.values():
                pages[:] = [page for page in pages if page != GALLERY]
    return entries


def _build_toctrees() -> str:
    blocks = (
        "\n".join(["```{toctree}", ":hidden:", f":caption: {title}", "", *pages, "```"])
        for section in navigation()[1:]
        for title, pages in section.items()
    )
    return "\n\n".join(blocks)


def on_config(config: MkDocsConfig) -> None:
    """Set the navigation; called by MkDocs."""
    config.nav = navigation()


def on_files(files: Files, config: MkDocsConfig) -> None:  # noqa: ARG001  (MkDocs passes it by name)
    """Leave out the gallery; called by MkDocs."""
    gallery = files.get_file_from_path(GALLERY)
    if gallery and SLOW not in os.environ:
        files.remove(gallery)


def on_page_markdown(markdown: str, **_: object) -> str:
    """Prepare a page; called by MkDocs."""
    return prepare(markdown, "mkdocs")
