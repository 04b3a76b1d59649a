"""Prepares the pages of both sites, which share Markdown files and navigation, except for a few blocks.

``conf.py`` (Sphinx) and ``mkdocs.yml`` (as a hook) pass every page through `prepare`, which supports two comments:

- ``<!-- only sphinx -->`` … ``<!-- end -->``: a block for one host, ``sphinx`` or ``mkdocs``, or for readers of the
  ``repository``;
- ``<!-- reference options -->``: a reference generated from the code by the function ``options`` in ``reference.py``;
  further words are its arguments.

Sphinx's tables of contents are generated from ``nav`` in ``mkdocs.yml``.
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
    from mkdocs.structure.pages import Page

DOCS = Path(__file__).parent
GALLERY = "examples/gallery.md"
"""A page of three dozen models, which takes minutes; built only by ``make gallery``."""
SLOW = "MODELDIAGRAMS_GALLERY"
"""The environment variable that is set to build the gallery."""
CATALOGUES = tuple(f"examples/catalogue/{name}.md" for name in ("index", "torchvision", "transformers"))
"""Pages of whole libraries, whose 146 models take minutes to draw; tests leave them out."""
LIGHT = "MODELDIAGRAMS_LIGHT"
"""The environment variable that is set to leave them out."""
MOVED = {
    "howto/class_links": "howto/references#link-classes-to-their-documentation",
    "howto/continuous_integration": "howto/without_pytorch#fast-builds-in-continuous-integration",
    "howto/environments": "howto/settings#run-models-in-another-environment",
    "howto/limits": "howto/settings#limits-of-time-and-memory-and-gpus",
    "howto/mkdocstrings": "howto/autodoc#show-documented-classes",
    "howto/pin": "howto/inputs#pin-what-was-found",
    "howto/python_markdown": "howto/zensical#python-markdown",
    "howto/security_policy": "howto/settings#content-security-policy",
    "howto/source_links": "howto/references#link-to-source-code",
    "howto/tabs": "howto/figures#tabs-and-dropdowns",
    "howto/translation": "howto/settings#translate-diagrams",
    "howto/versions": "howto/scripts#versions-of-a-site",
    "reference/python": "reference/python/index#python-api",
}
"""Former addresses of pages → where their content is."""

_ONLY = re.compile(r"^<!-- only (\w+) -->\n(.*?)^<!-- end -->\n", re.DOTALL | re.MULTILINE)
_REFERENCE = re.compile(r"^<!-- reference (\w+)(.*) -->$", re.MULTILINE)
_REDIRECT = """<!doctype html>
<meta charset="utf-8">
<title>Moved</title>
<meta http-equiv="refresh" content="0; url={address}">
<a href="{address}">This page has moved.</a>
"""
_FENCED = re.compile(r"(^(`{3,})[^`\n]*\n.*?^\2`*$)", re.DOTALL | re.MULTILINE)
_PART = re.compile(r"\[([^\]\n]+)\]\(model:([^)\n]+)\)")
_BLOCK = re.compile(
    r"^(?P<slashes>/{3,})(?: (?P<name>[\w-]+)(?: \| (?P<argument>.*))?(?P<options>(?:\n    .*)*))?$",
    re.MULTILINE,
)


def prepare(text: str, host: str, page: str) -> str:
    """Prepare a page for one host.

    Args:
        text: The file's content.
        host: ``sphinx`` or ``mkdocs``.
        page: The file's path among the pages.
    """
    text = _ONLY.sub(lambda block: block[2] if block[1] == host else "", text)
    text = _REFERENCE.sub(lambda mark: getattr(reference, mark[1])(*mark[2].split()), text)
    return _convert_for_sphinx(text) + _build_toctrees(page) if host == "sphinx" else text


def _convert_for_sphinx(text: str) -> str:
    """Convert blocks and links outside fences."""
    parts = _FENCED.split(text)
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


def list_left_out() -> list[str]:
    """List the pages that this build leaves out."""
    return [*([] if SLOW in os.environ else [GALLERY]), *(CATALOGUES if LIGHT in os.environ else ())]


def navigation() -> list[Any]:
    """Read ``nav`` in ``mkdocs.yml``: titles with their pages, which may be grouped under titles again."""
    entries: list[Any] = yaml.safe_load((DOCS / "mkdocs.yml").read_text("utf-8"))["nav"]
    return _leave_out(entries, list_left_out())


def _leave_out(entries: list[Any], pages: list[str]) -> list[Any]:
    kept = [
        {title: _leave_out(inner, pages) if isinstance(inner, list) else inner for title, inner in entry.items()}
        if isinstance(entry, dict)
        else entry
        for entry in entries
        if entry not in pages
    ]
    return [entry for entry in kept if not isinstance(entry, dict) or all(entry.values())]


def _build_toctrees(page: str) -> str:
    """Build Sphinx's tables of contents: of all sections on the front page, of a group on its first page."""
    sections = {title: inner for entry in navigation()[1:] for title, inner in entry.items()}
    if page == "index.md":
        return "".join(_build_toctree(inner, f":caption: {title}") for title, inner in sections.items())
    groups = (group for section in sections.values() for group in section if isinstance(group, dict))
    return "".join(_build_toctree(inner[1:]) for group in groups for inner in group.values() if page == inner[0])


def _build_toctree(entries: list[Any], *options: str) -> str:
    pages = (next(iter(entry.values()))[0] if isinstance(entry, dict) else entry for entry in entries)
    return "\n".join(["", "```{toctree}", ":hidden:", *options, "", *(f"/{page}" for page in pages), "```", ""])


def write_redirects(site: Path, ending: str) -> None:
    """Write a page at each former address that leads to the present one.

    Args:
        site: The folder of the built site.
        ending: What follows a page's name in the path of its file, ``.html`` or ``/index.html``.
    """
    for former, present in MOVED.items():
        name, hash_, anchor = present.partition("#")
        target = site / f"{name.removesuffix('/index') if ending == '/index.html' else name}{ending}"
        if f'id="{anchor}"' not in target.read_text("utf-8"):
            raise ValueError(f"docs/one_source.py: {former} moved to {present}, which the site does not have")
        file = site / f"{former}{ending}"
        if file == target:
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        address = os.path.relpath(target, file.parent).replace(os.sep, "/") + hash_ + anchor
        file.write_text(_REDIRECT.format(address=address), "utf-8")


def on_config(config: MkDocsConfig) -> None:
    """Set the navigation; called by MkDocs."""
    config.nav = navigation()


def on_files(files: Files, config: MkDocsConfig) -> None:  # noqa: ARG001  (MkDocs passes it by name)
    """Leave out pages; called by MkDocs."""
    for name in list_left_out():
        if page := files.get_file_from_path(name):
            files.remove(page)


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Prepare a page; called by MkDocs."""
    return prepare(markdown, "mkdocs", page.file.src_uri)


def on_post_build(config: MkDocsConfig) -> None:
    """Keep former addresses; called by MkDocs."""
    write_redirects(Path(config.site_dir), "/index.html")
