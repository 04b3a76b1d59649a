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

from modeldiagrams.options.reading import yaml_line

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
_FENCED = re.compile(r"(^(`{3,})[^`\n]*\n.*?^\2`*$)", re.DOTALL | re.MULTILINE)
_PART = re.compile(r"\[([^\]\n]+)\]\(model:([^)\n]+)\)")
_BLOCK = re.compile(
    r"^(?P<slashes>/{3,})(?: (?P<name>[\w-]+)(?: \| (?P<argument>.*))?(?P<options>(?:\n    .*)*))?$",
    re.MULTILINE,
)


def prepare(text: str, host: str) -> str:
    """A page as one host shows it.

    Args:
        text: The file's content.
        host: ``sphinx`` or ``mkdocs``.
    """
    text = _ONLY.sub(lambda block: block[2] if block[1] == host else "", text)
    text = _REFERENCE.sub(lambda mark: getattr(reference, mark[1])(), text)
    return _for_sphinx(text) if host == "sphinx" else text.replace(_NAVIGATION, "")


def _for_sphinx(text: str) -> str:
    """Tables of contents; blocks of pymdownx as directives, outside of fences."""
    parts = _FENCED.split(text.replace(_NAVIGATION, _toctrees()))
    return "".join(part if _FENCED.match(part) else _as_myst(part) for part in parts)


def _as_myst(text: str) -> str:
    """Blocks and links to parts of diagrams."""
    return _PART.sub(r"{model:part}`\1 <\2>`", _BLOCK.sub(_directive, text))


def _directive(block: re.Match[str]) -> str:
    """The head or the end of a block in MyST: ``/// model-tour | mypkg.Net`` → ``:::::::{model-tour} mypkg.Net``."""
    fence = ":" * (10 - len(block["slashes"]))
    if not block["name"]:
        return fence
    options = yaml.safe_load(block["options"] or "") or {}
    fields = "".join(f":{name}: {yaml_line(value)}\n" for name, value in options.items())
    return f"{fence}{{{block['name']}}} {block['argument'] or ''}\n{fields}"


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
