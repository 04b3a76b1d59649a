"""The pages of both sites: one set of Markdown files, one navigation, a few blocks for one host only.

``conf.py`` (Sphinx) and ``mkdocs.yml`` (as a hook) pass every page through `prepare`, which knows three comments:

- ``<!-- only sphinx -->`` … ``<!-- end -->``: a block for one host, ``sphinx`` or ``mkdocs``;
- ``<!-- reference options -->``: a reference made from the code, by the function of that name in ``reference.py``;
- ``<!-- navigation -->``: Sphinx's tables of contents, made from ``nav`` in ``mkdocs.yml``.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import reference
import yaml

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

DOCS = Path(__file__).parent
GALLERY = "examples/gallery.md"
"""Three dozen models, which take minutes: built only by ``make gallery``."""
SLOW = "MODELDIAGRAMS_GALLERY"
"""Environment variable that is set when the gallery is built."""

_ONLY = re.compile(r"^<!-- only (\w+) -->\n(.*?)^<!-- end -->\n", re.DOTALL | re.MULTILINE)
_REFERENCE = re.compile(r"^<!-- reference (\w+) -->$", re.MULTILINE)
_NAVIGATION = "<!-- navigation -->"


def prepare(text: str, host: str) -> str:
    """A page as one host shows it.

    Args:
        text: The file's content.
        host: ``sphinx`` or ``mkdocs``.
    """
    text = _ONLY.sub(lambda block: block[2] if block[1] == host else "", text)
    text = _REFERENCE.sub(lambda mark: getattr(reference, mark[1])(), text)
    return text.replace(_NAVIGATION, _toctrees() if host == "sphinx" else "")


def navigation() -> list[Any]:
    """What ``nav`` in ``mkdocs.yml`` says: the front page, then one map of section title to pages for each section."""
    entries: list[Any] = yaml.safe_load((DOCS / "mkdocs.yml").read_text("utf-8"))["nav"]
    if SLOW not in os.environ:
        for section in entries[1:]:
            for pages in section.values():
                pages[:] = [page for page in pages if page != GALLERY]
    return entries


def _toctrees() -> str:
    blocks = (
        "\n".join(["```{toctree}", ":hidden:", f":caption: {title}", "", *pages, "```"])
        for section in navigation()[1:]
        for title, pages in section.items()
    )
    return "\n\n".join(blocks)


def on_config(config: MkDocsConfig) -> None:
    """Called by MkDocs."""
    config.nav = navigation()


def on_files(files: Files, config: MkDocsConfig) -> None:  # noqa: ARG001  (MkDocs passes it by name)
    """Called by MkDocs."""
    gallery = files.get_file_from_path(GALLERY)
    if gallery and SLOW not in os.environ:
        files.remove(gallery)


def on_page_markdown(markdown: str, **_: object) -> str:
    """Called by MkDocs."""
    return prepare(markdown, "mkdocs")
