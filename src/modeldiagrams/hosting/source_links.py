"""Turns a site's settings into URL templates, from which the widget builds links to lines of source.

Paths in graphs are relative to the folder that Python imports from, which is often a subfolder of the repository
(``src/``). A documentation build often installs the package; then its files in the repository are found by their path.
"""

from __future__ import annotations

import functools
import glob
import re
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from modeldiagrams.options.settings import FORGES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from modeldiagrams.engine.diagram import Diagram
    from modeldiagrams.ir.graph import Graph
    from modeldiagrams.options.settings import Settings

__all__ = ["build_url_templates", "list_imported_packages", "list_linked_packages"]

_PACKAGE_FOLDERS = ("", "src/", "*/", "*/src/", "*/*/", "*/*/src/")
"""Folders in which repositories keep packages, the most common first."""

_PACKAGES = re.compile(r"\{path:([^}]*)\}")

_GENERATED = frozenset({"build", "dist", "site-packages", "node_modules"})
"""Folders that hold copies of packages."""


def build_url_templates(settings: Settings, diagram: Diagram, folder: Path) -> str | None:
    """Build the URL templates for a model's source lines: ``…/src/{path:mypkg}#L{line}``.

    A template is for the packages after the colon, because models also use libraries from other repositories.

    Args:
        settings: The site's settings.
        diagram: The diagram, with its sources.
        folder: The documentation's folder. Only installed packages that its repository contains get links.

    Returns:
        Templates separated by spaces; None if the site names no repository with the model's code.
    """
    if diagram.graph is None or not (settings.source_link or settings.repository_url):
        return None
    files = _group_by_package(diagram.graph)
    own = _find_import_folders(files, diagram.sources)
    packages: dict[str, list[str]] = {}
    for package, paths in files.items():
        url = _build_template(settings, package, functools.partial(_find_folder, own.get(package), paths[0], folder))
        if url is not None:
            packages.setdefault(url, []).append(package)
    links = (url.replace("{path}", f"{{path:{' '.join(packages[url])}}}") for url in sorted(packages))
    return " ".join(links) or None


def list_linked_packages(templates: str) -> frozenset[str]:
    """List the packages that the templates of `build_url_templates` are for."""
    return frozenset(package for packages in _PACKAGES.findall(templates) for package in packages.split())


def list_imported_packages(diagram: Diagram) -> list[str]:
    """List the packages outside of site-packages that a model was imported from."""
    return sorted(_find_import_folders(_group_by_package(diagram.graph), diagram.sources)) if diagram.graph else []


def _group_by_package(graph: Graph) -> dict[str, list[str]]:
    """Group a graph's source files by package."""
    found: dict[str, dict[str, None]] = {}
    for location in (graph.model.source, *(getattr(node, "source", None) for node in graph.nodes)):
        if location:
            path = location.rpartition(":")[0]
            found.setdefault(path.partition("/")[0], {})[path] = None
    return {package: sorted(found[package]) for package in sorted(found)}


def _find_import_folders(files: dict[str, list[str]], sources: Iterable[str]) -> dict[str, Path]:
    """Find the folder that each package is imported from, for packages of these source files."""
    ordered = sorted({Path(file).as_posix() for file in sources}, reverse=True)
    found = {}
    for package, paths in files.items():
        folders = (file.removesuffix(path) for path in paths for file in ordered if file.endswith(f"/{path}"))
        if (folder := next(folders, None)) is not None:
            found[package] = Path(folder)
    return found


def _build_template(settings: Settings, package: str, below: Callable[[], str | None]) -> str | None:
    """Build the URL template for a package's lines, with ``{path}`` as in graphs; None if the settings have none.

    Args:
        settings: The site's settings.
        package: The first part of its files' paths.
        below: Returns the package's folder in the repository.
    """
    name = package.removesuffix(".py")
    link, repository = settings.source_link, settings.repository_url
    if isinstance(link, dict) and name in link:
        return link[name]
    if isinstance(link, str):
        folder = below()
        return None if folder is None else link.replace("{path}", f"{folder}{{path}}")
    url = repository.get(name) if isinstance(repository, dict) else repository
    folder = below() if url else None
    if isinstance(repository, dict) and url:
        folder = folder or ""  # the site names this repository for this package
    if url is None or folder is None:
        return None
    url = url.removesuffix("/").removesuffix(".git")
    return FORGES[str(urlsplit(url).hostname)].format(url=url).replace("{path}", f"{folder}{{path}}")


def _find_folder(own: Path | None, path: str, folder: Path) -> str | None:
    """Find a package's folder in its git repository, with a slash at the end.

    Args:
        own: The folder that the package is imported from; None if it is installed.
        path: One of the package's files.
        folder: The documentation's folder; its repository is searched for an installed package.

    Returns:
        Empty for the root and without a repository; None if the repository doesn't have the package.
    """
    if own is not None:
        root = _find_root(own)
        return f"{own.relative_to(root).as_posix()}/".removeprefix("./") if root else ""
    return _search_repository(_find_root(folder), path)


@functools.lru_cache
def _search_repository(root: Path | None, path: str) -> str | None:
    """Find the folder of a repository that contains a file of this path."""
    if root is None:
        return None
    for file in (file for parent in _PACKAGE_FOLDERS for file in sorted(root.glob(parent + glob.escape(path)))):
        below = file.relative_to(root).as_posix().removesuffix(path)
        if not any(part.startswith(".") or part in _GENERATED for part in below.split("/")):
            return below
    return None


def _find_root(folder: Path) -> Path | None:
    return next((root for root in (folder, *folder.parents) if (root / ".git").exists()), None)
