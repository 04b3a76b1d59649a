"""The extension for Python-Markdown and Zensical: ``markdown_extensions: [modeldiagrams]``.

Neither announces the start or end of a build. So one tracing process serves all pages until the program ends, and every
page writes the files in ``modeldiagrams/``.
"""

from __future__ import annotations

import atexit
import logging
import posixpath
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from modeldiagrams.engine.builder import DiagramBuilder
from modeldiagrams.errors import SettingError
from modeldiagrams.hosting.catalogue_pages import MARK, write_model_pages
from modeldiagrams.hosting.site_files import FOLDER
from modeldiagrams.hosting.site_folder import SiteFolder
from modeldiagrams.html.escape import html_text
from modeldiagrams.markdown.catalogue_fence import plan_model_pages
from modeldiagrams.markdown.fence import ModelDiagramsExtension
from modeldiagrams.markdown.fence_host import FenceHost
from modeldiagrams.markdown.incremental_site import IncrementalSite
from modeldiagrams.options.settings import CACHE, CALLS, Settings, add_repository, parse_settings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import markdown

    from modeldiagrams.engine.diagram import Diagram

__all__ = ["MarkdownHost", "Services", "makeExtension"]

_ZENSICAL = "rendering_context"
"""The preprocessor with which Zensical passes on the current page and the site's configuration."""

_AUTOREFS = "mkdocs-autorefs"
"""The pattern registered by Zensical's autorefs, if the site uses them."""

_BUILD_AGAIN = (
    "modeldiagrams: Zensical had listed the pages before those of models were written, so {} are missing;"
    " run the build again\n"
)

_OWN_SETTINGS = ("folder", "site_dir", "page")
"""Settings that override those of Zensical."""

_log = logging.getLogger("modeldiagrams.markdown")


class Services:
    """The builders and sites of one process; Zensical creates a new extension for every page."""

    def __init__(self) -> None:
        self._builders: dict[tuple[Path | None, ...], DiagramBuilder] = {}
        self._sites: dict[tuple[Path, ...], IncrementalSite] = {}
        self._lock = threading.Lock()
        self._new_pages: list[Path] = []

    def builder(self, root: Path, folder: Path, settings: Settings) -> DiagramBuilder:
        """Return the builder for models in `root` and graph files in `folder`."""
        cache_dir, snapshots = root / settings.cache_dir if settings.cache_dir else None, root / settings.snapshots
        key = (cache_dir, folder, root, snapshots)
        with self._lock:
            if key not in self._builders:
                builder = DiagramBuilder(
                    cache_dir, folder=folder, paths=[root], snapshots=snapshots, calls=root / CALLS
                )
                builder.tracing.on_trace = lambda model: _log.info("tracing %s", model)
                self._builders[key] = builder
            return self._builders[key]

    def site(self, *folders: Path) -> IncrementalSite:
        """Return the site with a ``modeldiagrams/`` folder in each of these folders."""
        paths = tuple(folder.absolute() / FOLDER for folder in folders)
        with self._lock:
            if paths not in self._sites:
                self._sites[paths] = IncrementalSite(*map(SiteFolder, paths))
            return self._sites[paths]

    def write_model_pages(self, folder: Path, pages: Mapping[Path, tuple[str, Path]], *, all_: bool) -> None:
        """Write the pages of models that a page lists: file in a folder → text, and the site's file of it.

        Unless these are all, those of earlier builds stay.
        """
        with self._lock:
            earlier = {file for file in folder.glob("*.md") if MARK in file.read_text("utf-8", errors="replace")[:400]}
            # authors may write the page of a model themselves
            wanted = {file: text for file, (text, _) in pages.items() if file in earlier or not file.is_file()}
            if not all_:
                wanted = {file: file.read_text("utf-8") for file in earlier} | wanted
            self._new_pages += [pages[file][1] for file in wanted.keys() - earlier]
            write_model_pages(wanted, earlier)

    def close(self) -> None:
        """End all tracing processes, and tell which pages the site doesn't have."""
        for builder in self._builders.values():
            builder.close()
        missing = sum(not page.is_file() for page in self._new_pages)
        if missing:
            sys.stderr.write(_BUILD_AGAIN.format(missing))


_services = Services()
atexit.register(_services.close)


class MarkdownHost(FenceHost):
    """Serves documents of Python-Markdown, or one page of Zensical."""

    def __init__(self, settings: Settings, *, folder: Path, site: Path | None = None, page: str | None = None) -> None:
        self._services = _services
        super().__init__(self._services.builder(folder, folder, settings), settings)
        self.page = page
        self._site = self._services.site(site) if site else None
        self._document: object = self
        self._docs: Path | None = None
        self._site_dir = site or Path()
        self._has_autorefs = False
        self._uses_folders = True
        self._model_pages: dict[str, str] = {}

    def start_document(self, md: markdown.Markdown) -> None:
        """Get the current page and the site's folder from Zensical, if it is used."""
        if _ZENSICAL in md.preprocessors:
            self._configure_from_zensical(md.preprocessors[_ZENSICAL])
            self._has_autorefs = _AUTOREFS in md.inlinePatterns
        if self._site:
            self._site.start_page(self.page, self._document, self.path or None)
        if self._docs and not self.is_in_piece:
            folder = posixpath.splitext(self.path)[0]
            planned, all_ = plan_model_pages(self, self.path, self.page_source() or "", folder)
            self._model_pages = {model: file for model, (file, _) in planned.items()}
            pages = {self._docs / file: (text, self._site_dir / self._output(file)) for file, text in planned.values()}
            self._services.write_model_pages(self._docs / folder, pages, all_=all_)

    def note_shown(self, diagram: Diagram) -> None:
        """Write the diagram's files."""
        super().note_shown(diagram)
        if self._site:
            self._site.add(self.page, diagram, self.builder.page_data)
        if self._docs and ".gitignore" not in (folder := SiteFolder(self._docs / FOLDER)):
            folder.write({".gitignore": b"*\n"})

    def note_catalogue(self, files: Mapping[str, bytes]) -> None:
        """Write the files of a catalogue."""
        super().note_catalogue(files)
        if self._site:
            self._site.write(files)

    def model_page(self, model: str, *, in_data: bool = False) -> str | None:
        """Return the URL of a model's page in Zensical, which rewrites URLs of files, but not in data."""
        if model not in self._model_pages:
            return None
        file = self._model_pages[model]
        if in_data:
            url = posixpath.relpath(self._output(file), posixpath.dirname(self.page or "") or ".")
            return url.removesuffix("index.html")
        return posixpath.relpath(file, posixpath.dirname(self.path) or ".")

    def _output(self, path: str) -> str:
        """Return the URL of a page that isn't an index, as a file of the site."""
        stem = posixpath.splitext(path)[0]
        return f"{stem}/index.html" if self._uses_folders else f"{stem}.html"

    def end_document(self) -> None:
        """Write the files that all pages share."""
        if self._site:
            has_diagrams = bool(self.diagrams or self.catalogue_files)
            self._site.finish_page(self.settings, has_diagrams=has_diagrams)

    def assets_url(self) -> str:
        """Return the URL prefix from the current page to the site's ``modeldiagrams/`` folder."""
        # Zensical expects URLs relative to the page's source file, and rewrites them
        return f"{posixpath.relpath(FOLDER, posixpath.dirname(self.path or self.page or '') or '.')}/"

    def class_link(self, names: Sequence[str], html: str) -> str:
        """Let Zensical's autorefs resolve the link: it knows all documented classes only after converting all pages."""
        if not self._has_autorefs:
            return html
        # mkdocstrings registers a class under all its names, but PyTorch's inventory has only the last
        name = names[-1] if names[0].startswith("torch.") else names[0]
        return f'<autoref identifier="{html_text(name)}" optional>{html}</autoref>'

    def page_source(self) -> str | None:
        """Read the page's file, because Zensical passes only the text after the front matter."""
        file = self._docs / self.path if self._docs else None
        return file.read_text("utf-8-sig", errors="replace") if file and file.is_file() else None

    def _configure_from_zensical(self, context: Any) -> None:
        root = Path(context.config["root_dir"])
        docs = self._docs = root / context.config["docs_dir"]
        self._uses_folders = context.config["use_directory_urls"]
        self.page, self.path, self._document = context.page.url, context.page.path, context.page
        # Zensical empties the site before each build but doesn't convert all pages again, so files written only there
        # would be lost; it copies files from the folder of pages
        self._site_dir = root / context.config["site_dir"]
        self._site = self._services.site(docs, self._site_dir)
        self.settings = add_repository(self.settings, context.config["repo_url"])
        if self.settings.cache_dir is None:
            self.settings = msgspec.structs.replace(self.settings, cache_dir=CACHE)
        self.builder = self._services.builder(root, docs, self.settings)
        # Zensical shows only warnings
        self.builder.tracing.on_trace = lambda model: sys.stderr.write(f"modeldiagrams: tracing {model}\n")


def makeExtension(**configs: Any) -> ModelDiagramsExtension:  # noqa: N802  (Python-Markdown's name)
    """Make the extension; called by Python-Markdown with its configuration.

    Args:
        configs: A site's settings, see `Settings`. Without Zensical also `folder`, from which models are imported and
            to which paths are relative (by default the current folder), `site_dir`, where the ``modeldiagrams/``
            folder is written (by default nowhere), and `page`, the URL of the page relative to the site's root.

    Raises:
        SettingError: for the first invalid setting.
    """
    own = {name: configs.pop(name) for name in _OWN_SETTINGS if name in configs}
    for name, value in own.items():
        if not isinstance(value, str):
            raise SettingError(name, f"expected {'a URL' if name == 'page' else 'the path of a folder'}, got {value!r}")
    site = own.get("site_dir")
    folder = Path(own.get("folder", ""))
    host = MarkdownHost(parse_settings(configs), folder=folder, site=Path(site) if site else None, page=own.get("page"))
    return ModelDiagramsExtension(host)
