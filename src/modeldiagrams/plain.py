"""The fence where only Python-Markdown runs: alone, or inside Zensical. ``markdown_extensions: [modeldiagrams]``.

Nobody says here when a build begins or ends. So one tracing process serves all pages and ends with the program, and the
files beside the pages are written with each page.
"""

from __future__ import annotations

import atexit
import posixpath
import threading
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from modeldiagrams.diagrams import Diagram, Maker
from modeldiagrams.errors import SettingError
from modeldiagrams.fence import FenceHost, ModelDiagramsExtension
from modeldiagrams.host import FOLDER, data_files
from modeldiagrams.serialize import write_atomically
from modeldiagrams.settings import Settings, parse_settings, with_repository
from modeldiagrams.sitedata import INDEX, Listed, graph_files, read_index, shared_files

if TYPE_CHECKING:
    import markdown

    from modeldiagrams.options import Options

__all__ = ["PlainHost", "makeExtension"]

_ZENSICAL = "rendering_context"
"""The preprocessor by which Zensical tells extensions what is converted; it has `page` and `config`."""

_ZENSICAL_CACHE = ".cache/modeldiagrams"


class PlainHost(FenceHost):
    """Serves one document of Python-Markdown, or one page of Zensical.

    Attributes:
        site: Folder that the files beside the pages are written into; None writes none.
        page: URL of the page below the site's root.
        path: Its file below the folder of all pages.
    """

    def __init__(self, settings: Settings, *, folder: Path, site: Path | None = None) -> None:
        super().__init__(_shared_maker(folder, folder, settings), settings)
        self.site = site
        self.page = self.path = ""
        self._listed: list[Listed] = []

    def begins(self, md: markdown.Markdown) -> None:
        """Learn from Zensical, if it is there, which page this is and where the site is written."""
        if _ZENSICAL not in md.preprocessors:
            return
        context: Any = md.preprocessors[_ZENSICAL]
        root = Path(context.config["root_dir"])
        self.page, self.path = context.page.url, context.page.path
        self.site = root / context.config["site_dir"]
        self.settings = with_repository(self.settings, context.config["repo_url"])
        if self.settings.cache_dir is None:
            self.settings = msgspec.structs.replace(self.settings, cache_dir=_ZENSICAL_CACHE)
        self.maker = _shared_maker(root, root / context.config["docs_dir"], self.settings)

    def drawn(self, diagram: Diagram) -> None:
        """Write what the page needs beside it."""
        super().drawn(diagram)
        if self.site is None:
            return
        if diagram.graph is not None:
            anchor = f"#{diagram.options.name}" if diagram.options.name else ""
            self._listed.append(Listed(id=diagram.id, model=diagram.options.model, page=f"{self.page}{anchor}"))
        folder = self.site / FOLDER
        # other pages may have been written by an earlier build, which Zensical keeps
        others = [entry for entry in read_index(folder / INDEX) if entry.page.partition("#")[0] != self.page]
        shared = shared_files(self.settings, [*others, *self._listed])
        for name, content in {**shared, **data_files([diagram]), **graph_files([diagram])}.items():
            write_atomically(folder / name, content)

    def assets(self) -> str:
        """URL prefix from the current page to the site's ``modeldiagrams/`` folder."""
        # Zensical takes every relative URL in a page for one from its source file, and makes it fit the page
        return f"{posixpath.relpath(FOLDER, posixpath.dirname(self.path) or '.')}/"

    def graph_file(self, path: str) -> str:
        """Relative to the page as in Markdown links, or with a leading ``/`` to the folder of all pages."""
        if not self.path:
            return path
        return posixpath.normpath(posixpath.join("/", posixpath.dirname(self.path), path)).lstrip("/")

    def place(self, line: int | None) -> str:
        """Name the page, where it is known."""
        if not self.path:
            return super().place(line)
        return f"{self.path}:{line}: " if line else f"{self.path}: "


def makeExtension(**configs: Any) -> ModelDiagramsExtension:  # noqa: N802  (Python-Markdown's name)
    """Called by Python-Markdown with what stands under the extension's name.

    Args:
        configs: A site's settings, see `Settings`. Where there is no Zensical to ask, also `folder`, which models are
            imported from and paths are relative to (by default the current one), and `site_dir`, where the files beside
            the pages are written (by default nowhere).

    Raises:
        SettingError: naming the first that is wrong.
    """
    folders = {name: configs.pop(name) for name in ("folder", "site_dir") if name in configs}
    for name, value in folders.items():
        if not isinstance(value, str):
            raise SettingError(name, f"expected the path of a folder, got {value!r}")
    site = folders.get("site_dir")
    host = PlainHost(parse_settings(configs), folder=Path(folders.get("folder", "")), site=Path(site) if site else None)
    return ModelDiagramsExtension(host)


class _SharedMaker(Maker):
    """Converters may run in several threads; the tracing process answers one after the other."""

    _lock = threading.Lock()

    def make(self, options: Options) -> Diagram:
        with self._lock:
            return super().make(options)


def _shared_maker(root: Path, folder: Path, settings: Settings) -> Maker:
    cache_dir = root / settings.cache_dir if settings.cache_dir else None
    return _maker(cache_dir, folder, root, root / settings.snapshots)


@cache
def _maker(cache_dir: Path | None, folder: Path, root: Path, snapshots: Path) -> Maker:
    """Zensical makes the extension anew for every page; the process that traces starts once."""
    maker = _SharedMaker(cache_dir, folder=folder, paths=[root], snapshots=snapshots)
    atexit.register(maker.close)
    return maker
