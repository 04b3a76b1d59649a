"""Converts pages as Zensical does, as far as it shows itself to extensions."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import markdown
from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor
from markdown.preprocessors import Preprocessor


class Context(Extension):
    """What Zensical registers before it converts a page."""

    def __init__(self, root: Path, url: str, path: str, *, autorefs: bool = False, folders: bool = True) -> None:
        super().__init__()
        self.page = SimpleNamespace(url=url, path=path)
        self.autorefs = autorefs
        self.settings = {
            "root_dir": str(root),
            "docs_dir": "docs",
            "site_dir": "site",
            "use_directory_urls": folders,
            "repo_url": "https://github.com/org/project",
        }

    def extendMarkdown(self, md):  # noqa: N802
        context = Preprocessor(md)
        context.run = lambda lines: lines
        context.page, context.config = self.page, self.settings
        md.preprocessors.register(context, "rendering_context", 0)
        if self.autorefs:
            md.inlinePatterns.register(InlineProcessor("$^"), "mkdocs-autorefs", 168)


def convert(text: str, *extensions, **configs) -> str:
    return markdown.markdown(
        text, extensions=[*extensions, "modeldiagrams"], extension_configs={"modeldiagrams": configs}
    )
