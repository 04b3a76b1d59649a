"""How GitHub and PyPI show a README: their renderers, GitHub's rules for HTML, and what it removes from SVG files."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree as ET

import cmarkgfm
import nh3
import readme_renderer.markdown

GITHUB = {
    "tags": {"a", "blockquote", "code", "em", "h1", "h2", "img", "li", "p", "picture", "pre", "source", "sub", "ul"},
    "attributes": {
        "a": {"href"},
        "img": {"src", "alt", "width", "height"},
        "source": {"srcset", "media"},
    },
}
"""The part of the allowlist of GitHub's sanitiser that READMEs need, https://github.com/gjtorikian/html-pipeline."""


class Pictures(HTMLParser):
    """Collects the attributes of pictures."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note one element."""
        if tag in {"img", "source", "a"}:
            self.found.append((tag, dict(attrs)))


def shown_by_github(text: str) -> list[tuple[str, dict[str, str | None]]]:
    html = cmarkgfm.github_flavored_markdown_to_html(text, cmarkgfm.cmark.Options.CMARK_OPT_UNSAFE)
    return Pictures(nh3.clean(html, **GITHUB)).found


def shown_by_pypi(text: str) -> list[tuple[str, dict[str, str | None]]]:
    return Pictures(readme_renderer.markdown.render(text) or "").found


def check_svg(file: Path) -> None:
    """Check that a file has nothing that GitHub's sanitiser removes."""
    for element in ET.parse(file).iter():  # noqa: S314  (we wrote it)
        tag = element.tag.rpartition("}")[2]
        assert tag not in {"script", "style", "foreignObject", "iframe", "animate", "set"}
        for attribute, value in element.attrib.items():
            assert not attribute.startswith("on")
            assert not re.search(r"(?i)(https?:|javascript:|data:text)", value), (attribute, value)
            assert not attribute.endswith("href") or value.startswith(("#", "data:image/")), value
