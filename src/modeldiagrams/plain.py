"""The fence where only Python-Markdown runs: alone, or inside Zensical. ``markdown_extensions: [modeldiagrams]``.

Nobody says here when a build begins or ends. So one tracing process serves all pages and ends with the program, and the
files beside the pages are written with each page.
"""

from __future__ import annotations

import atexit
import logging
import posixpath
import sys
import threading
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from modeldiagrams.diagrams import Diagram, Maker
from modeldiagrams.errors import SettingError
from modeldiagrams.fence import FenceHost, ModelDiagramsExtension
from modeldiagrams.host import FOLDER
from modeldiagrams.markup import html_text
from modeldiagrams.pages import Beside, beside
from modeldiagrams.serialize import write_atomically
from modeldiagrams.settings import Settings, parse_settings, with_repository

if TYPE_CHECKING:
    from collections.abc import Sequence

    import markdown

__all__ = ["PlainHost", "makeExtension"]

_ZENSICAL = "rendering_context"
"""The preprocessor by which Zensical tells extensions what is converted; it has `page` and `config`."""

_ZENSICAL_CACHE = ".cache/modeldiagrams"

_AUTOREFS = "mkdocs-autorefs"
"""The pattern that Zensical's own autorefs registers, where the site has it."""

_FOLDERS = ("folder", "site_dir", "page")
"""What an author says where there is no Zensical to ask."""

_log = logging.getLogger(__name__)


class PlainHost(FenceHost):
    """Serves documents of Python-Markdown, or one page of Zensical.

    Attributes:
        page: URL of the page below the site's root; None where nobody has said it.
        path: Its file below the folder of all pages, in Zensical.
    """

    def __init__(self, settings: Settings, *, folder: Path, site: Path | None = None, page: str | None = None) -> None:
        super().__init__(_shared_maker(folder, folder, settings), settings)
        self.page = page
        self.path = ""
        self._beside: Beside | None = beside(site.absolute() / FOLDER) if site else None
        self._document: object = self
        self._docs: Path | None = None
        self._has_autorefs = False

    def begins(self, md: markdown.Markdown) -> None:
        """Learn from Zensical, if it is there, which page this is and where the site is written."""
        if _ZENSICAL in md.preprocessors:
            self._ask_zensical(md.preprocessors[_ZENSICAL])
            self._has_autorefs = _AUTOREFS in md.inlinePatterns
        if self._beside:
            self._beside.begin(self.page, self._document, self.path or None)

    def drawn(self, diagram: Diagram) -> None:
        """Write what the page needs beside it."""
        super().drawn(diagram)
        if self._beside:
            self._beside.add(self.page, diagram)
        if self._docs and not (ignored := self._docs / FOLDER / ".gitignore").exists():
            write_atomically(ignored, b"*\n")

    def ends(self) -> None:
        """Write what all pages share."""
        if self._beside:
            self._beside.end(self.settings, has_diagrams=bool(self.diagrams))

    def assets(self) -> str:
        """URL prefix from the current page to the site's ``modeldiagrams/`` folder."""
        # Zensical takes every relative URL in a page for one from its source file, and makes it fit the page
        return f"{posixpath.relpath(FOLDER, posixpath.dirname(self.path or self.page or '') or '.')}/"

    def graph_file(self, path: str) -> str:
        """Relative to the page as in Markdown links, or with a leading ``/`` to the folder of all pages."""
        if not self.path:
            return path
        return posixpath.normpath(posixpath.join("/", posixpath.dirname(self.path), path)).lstrip("/")

    def link(self, names: Sequence[str], html: str) -> str:
        """Let Zensical's autorefs resolve it, which tells only later what is documented."""
        if not self._has_autorefs:
            return html
        # mkdocstrings registers a class under all its names; PyTorch's inventory knows only the last of them
        name = names[-1] if names[0].startswith("torch.") else names[0]
        return f'<autoref identifier="{html_text(name)}" optional>{html}</autoref>'

    def source(self) -> str | None:
        """The page's file, for Zensical hands over what follows its front matter."""
        file = self._docs / self.path if self._docs else None
        return file.read_text("utf-8-sig", errors="replace") if file and file.is_file() else None

    def place(self, line: int | None) -> str:
        """Name the page, where it is known."""
        page = self.path or self.page
        if not page:
            return super().place(line)
        return f"{page}:{line}: " if line else f"{page}: "

    def _ask_zensical(self, context: Any) -> None:
        root = Path(context.config["root_dir"])
        docs = self._docs = root / context.config["docs_dir"]
        self.page, self.path, self._document = context.page.url, context.page.path, context.page
        # it empties the site before each build, and pages that it keeps would miss viewer and data; but what lies among
        # the pages' files it brings along
        self._beside = beside((docs / FOLDER).absolute(), (root / context.config["site_dir"] / FOLDER).absolute())
        self.settings = with_repository(self.settings, context.config["repo_url"])
        if self.settings.cache_dir is None:
            self.settings = msgspec.structs.replace(self.settings, cache_dir=_ZENSICAL_CACHE)
        self.maker = _shared_maker(root, docs, self.settings)
        # Zensical shows no log of anybody's, warnings apart
        self.maker.on_trace = lambda model: sys.stderr.write(f"modeldiagrams: tracing {model}\n")


def makeExtension(**configs: Any) -> ModelDiagramsExtension:  # noqa: N802  (Python-Markdown's name)
    """Called by Python-Markdown with what stands under the extension's name.

    Args:
        configs: A site's settings, see `Settings`. Where there is no Zensical to ask, also `folder`, which models are
            imported from and paths are relative to (by default the current one), `site_dir`, where the files beside the
            pages are written (by default nowhere), and `page`, the URL of the page below the site's root.

    Raises:
        SettingError: naming the first that is wrong.
    """
    own = {name: configs.pop(name) for name in _FOLDERS if name in configs}
    for name, value in own.items():
        if not isinstance(value, str):
            raise SettingError(name, f"expected {'a URL' if name == 'page' else 'the path of a folder'}, got {value!r}")
    site = own.get("site_dir")
    folder = Path(own.get("folder", ""))
    host = PlainHost(parse_settings(configs), folder=folder, site=Path(site) if site else None, page=own.get("page"))
    return ModelDiagramsExtension(host)


class _SharedMaker(Maker):
    """Converters may run in several threads; the tracing process answers one after the other."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._lock = threading.Lock()
        self._thread = threading.local()
        super().__init__(*args, **kwargs)

    @property
    def output(self) -> str:
        """What the last model of this thread printed."""
        return getattr(self._thread, "output", "")

    @output.setter
    def output(self, text: str) -> None:
        self._thread.output = text

    def make(self, *args: Any, **kwargs: Any) -> Diagram:
        """As `Maker.make`."""
        with self._lock:
            return super().make(*args, **kwargs)


def _shared_maker(root: Path, folder: Path, settings: Settings) -> Maker:
    cache_dir = root / settings.cache_dir if settings.cache_dir else None
    return _maker(cache_dir, folder, root, root / settings.snapshots)


@cache
def _maker(cache_dir: Path | None, folder: Path, root: Path, snapshots: Path) -> Maker:
    """Zensical makes the extension anew for every page; the process that traces starts once."""
    maker = _SharedMaker(cache_dir, folder=folder, paths=[root], snapshots=snapshots)
    maker.on_trace = lambda model: _log.info("tracing %s", model)
    atexit.register(maker.close)
    return maker
