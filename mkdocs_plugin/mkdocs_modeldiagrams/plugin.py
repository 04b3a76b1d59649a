"""The plugin: adds the fence to a build and the diagrams' files to the site, and watches the models' sources."""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from mkdocs.exceptions import PluginError
from mkdocs.plugins import BasePlugin, event_priority
from mkdocs.structure.files import File

from mkdocs_modeldiagrams.config import PluginConfig
from mkdocs_modeldiagrams.links import Addresses, remove_duplicate_ids, resolve_names
from mkdocs_modeldiagrams.site_host import Site
from mkdocs_modeldiagrams.watch import Watch
from modeldiagrams.engine.builder import DiagramBuilder, Session
from modeldiagrams.hosting.host import prefetch
from modeldiagrams.hosting.site_files import FOLDER
from modeldiagrams.markdown.fence import ModelDiagramsExtension
from modeldiagrams.options.settings import CACHE, CALLS, add_repository

if TYPE_CHECKING:
    from jinja2 import Environment
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.livereload import LiveReloadServer
    from mkdocs.structure.files import Files
    from mkdocs.structure.nav import Navigation
    from mkdocs.structure.pages import Page

__all__ = ["ModelDiagramsPlugin"]


class ModelDiagramsPlugin(BasePlugin[PluginConfig]):  # type: ignore[no-untyped-call]  # MkDocs leaves a hook untyped
    """The plugin; one instance serves all builds of ``mkdocs serve``, each with its own configuration and `Site`."""

    def __init__(self) -> None:
        self._site: Site | None = None
        self._watch = Watch()
        self._session = Session()
        self._root = Path()
        self._is_dirty = False
        self._is_served = False

    def on_startup(self, *, command: Literal["build", "gh-deploy", "serve"], dirty: bool) -> None:
        """Note the command; the existence of this method makes MkDocs keep the instance from build to build."""
        self._is_dirty = dirty
        self._is_served = command == "serve"

    @event_priority(100)
    def on_config(self, config: MkDocsConfig) -> MkDocsConfig:
        """Begin a build: register the fence with Python-Markdown."""
        if self._site is not None and self._site.config is config:
            # a site in several languages is built once per language, with one configuration, into one folder
            self._site.is_complete = False
            return config
        # models are imported from the folder of `mkdocs.yml`, like hooks
        root = self._root = Path(config.config_file_path or config.docs_dir).resolve().parent
        settings = add_repository(self.config.settings, config.repo_url)
        folder, snapshots = Path(config.docs_dir), root / settings.snapshots
        cache_dir = root / (settings.cache_dir or CACHE)
        paths = [root, *map(Path, self.config.search_paths)]
        builder = DiagramBuilder(
            cache_dir, folder=folder, paths=paths, snapshots=snapshots, calls=root / CALLS, session=self._session
        )
        self._site = Site(builder, config, settings)
        config.markdown_extensions.append(ModelDiagramsExtension(host=self._site))  # type: ignore[arg-type]  # as names are
        # mkdocstrings may be installed without Griffe, for other languages
        if "mkdocstrings" in config.plugins and importlib.util.find_spec("griffe"):
            griffe_extension = importlib.import_module("mkdocs_modeldiagrams.griffe_extension")
            chosen, listed = self.config.mkdocstrings, self._site.listed
            griffe_extension.add_to_mkdocstrings(config.plugins["mkdocstrings"], chosen, listed)
        return config

    @event_priority(-200)
    def on_files(self, files: Files, *, config: MkDocsConfig) -> Files:  # noqa: ARG002
        """Add a page for each model of a catalogue, when other plugins have chosen the site's pages."""
        self._current().add_model_pages(files)
        return files

    @event_priority(-100)
    def on_nav(self, nav: Navigation, *, config: MkDocsConfig, files: Files) -> Navigation:  # noqa: ARG002
        """Run the models of all pages at the same time."""
        site = self._current()
        site.pages = files
        if not self._is_dirty:
            prefetch(site.builder, site.settings, (file.content_string for file in files.documentation_pages()))
        return nav

    def on_page_content(self, html: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG002
        """Register the diagrams' anchors for MkDocs' check of links, and remove duplicate ids."""
        if page.present_anchor_ids is not None:
            page.present_anchor_ids |= self._current().anchors
        return remove_duplicate_ids(html)

    @event_priority(-25)
    def on_env(self, env: Environment, *, config: MkDocsConfig, files: Files) -> Environment:
        """Add the diagrams' files to the site, and resolve names in links, when all pages are converted.

        This runs after mkdocstrings (0) has loaded other projects' inventories, and before autorefs (-50).
        """
        site = self._current()
        if self._is_dirty:
            site.keep({file.page.url for file in files.documentation_pages() if file.page})
        for name, content in site.files().items():
            # Zensical builds of the same sources leave files of these names among the pages
            if former := files.get_file_from_path(f"{FOLDER}/{name}"):
                files.remove(former)
            files.append(File.generated(config, f"{FOLDER}/{name}", content=content))
        if site.diagrams or site.catalogue_files:
            _resolve_names(config, files)
            _list_files_for_print_page(config)
        pages = [file.page for file in files.documentation_pages() if file.page and file.page.content]
        titles = {page.url.removeprefix("./"): str(page.title or "") for page in pages}
        for page in pages:
            page.content = site.fill_changes(page.content or "", page.url, titles)
        site.is_complete = True
        return env

    def on_post_build(self, *, config: MkDocsConfig) -> None:  # noqa: ARG002
        """End the process that imported the models, because they may be edited before the next build."""
        site = self._current()
        self._watch.update(site.tried_diagrams, site.lists.values(), self._root)
        if self._is_served:
            site.builder.renew()
        else:
            site.builder.close()

    def on_serve(self, server: LiveReloadServer, *, config: MkDocsConfig, **_: object) -> LiveReloadServer:
        """Start watching, once after the first build."""
        # the site's own folders first, because they are watched recursively and each path is watched only once
        for path in config.watch:
            server.watch(path)
        self._watch.server = server
        site = self._current()
        self._watch.update(site.tried_diagrams, site.lists.values(), self._root)
        return server

    def on_build_error(self, **_: object) -> None:
        """Close the builder when a build fails."""
        self._end()

    def on_shutdown(self) -> None:
        """Close the builder at the end."""
        self._end()

    def _current(self) -> Site:
        if self._site is None:
            raise PluginError("modeldiagrams: expected `on_config` to have run first; another plugin skipped it")
        return self._site

    def _end(self) -> None:
        if self._site is not None:
            self._site.builder.close()


def _list_files_for_print_page(config: MkDocsConfig) -> None:
    """Let print-site, which copies all pages into one, load the viewer from where that page is."""
    if "print-site" in config.plugins:
        files: Any = ((config.extra_css, "model-graph.css"), (config.extra_javascript, "model-graph.js"))
        for listed, name in files:
            if (path := f"{FOLDER}/{name}") not in listed:
                listed.append(path)


def _resolve_names(config: MkDocsConfig, files: Files) -> None:
    autorefs: Any = config.plugins.get("autorefs")
    if autorefs is None:
        return
    for file in files.documentation_pages():
        if file.page is not None and file.page.content is not None:
            file.page.content = resolve_names(file.page.content, Addresses(autorefs, file.page.url))
