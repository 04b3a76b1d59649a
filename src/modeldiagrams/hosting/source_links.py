"""Links to lines of source: from a site's settings to URL templates that the widget fills in.

Paths in graphs are relative to the folder that Python imports from. The repository's root may be above it (``src/``),
and may have several packages in different folders. A documentation build often installs the package, so that its files
are in site-packages and have to be found in the repository by their path.
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

__all__ = ["imported_packages", "linked_packages", "url_templates"]

_PACKAGE_FOLDERS = ("", "src/", "*/", "*/src/", "*/*/", "*/*/src/")
"""Folders in which repositories keep packages, the most common first: flat, ``src/``, and workspaces of several."""

_PACKAGES = re.compile(r"\{path:([^}]*)\}")

_GENERATED = frozenset({"build", "dist", "site-packages", "node_modules"})
"""Folders with copies of packages."""


def url_templates(settings: Settings, diagram: Diagram, folder: Path) -> str | None:
    """URL templates of a model's source lines, for the widget to fill in: ``…/src/{path:mypkg}#L{line}``.

    The packages after the colon are those that a template is for: models also use libraries of other repositories.

    Args:
        settings: The site's.
        diagram: Just drawn, so that it has its sources.
        folder: Of the documentation. An installed package belongs to the site if this folder's repository has its
            files.

    Returns:
        Templates separated by spaces; None if the site names no repository, or none that has the model's code.
    """
    if diagram.graph is None or not (settings.source_link or settings.repository_url):
        return None
    files = _by_package(diagram.graph)
    own = _own_files(files, diagram.sources)
    packages: dict[str, list[str]] = {}
    for package, paths in files.items():
        url = _url(settings, package, functools.partial(_below, own.get(package), paths[0], folder))
        if url is not None:
            packages.setdefault(url, []).append(package)
    links = (url.replace("{path}", f"{{path:{' '.join(packages[url])}}}") for url in sorted(packages))
    return " ".join(links) or None


def linked_packages(templates: str) -> frozenset[str]:
    """The packages that URL templates are for; arguments as `url_templates` returns them."""
    return frozenset(package for packages in _PACKAGES.findall(templates) for package in packages.split())


def imported_packages(diagram: Diagram) -> list[str]:
    """Packages that a model was imported from outside of site-packages."""
    return sorted(_own_files(_by_package(diagram.graph), diagram.sources)) if diagram.graph else []


def _by_package(graph: Graph) -> dict[str, list[str]]:
    """Package → its files, with paths as in the graph."""
    found: dict[str, dict[str, None]] = {}
    for location in (graph.model.source, *(getattr(node, "source", None) for node in graph.nodes)):
        if location:
            path = location.rpartition(":")[0]
            found.setdefault(path.partition("/")[0], {})[path] = None
    return {package: sorted(found[package]) for package in sorted(found)}


def _own_files(files: dict[str, list[str]], sources: Iterable[str]) -> dict[str, Path]:
    """Package → the folder that it is imported from, for packages of these source files."""
    ordered = sorted({Path(file).as_posix() for file in sources}, reverse=True)
    found = {}
    for package, paths in files.items():
        folders = (file.removesuffix(path) for path in paths for file in ordered if file.endswith(f"/{path}"))
        if (folder := next(folders, None)) is not None:
            found[package] = Path(folder)
    return found


def _url(settings: Settings, package: str, below: Callable[[], str | None]) -> str | None:
    """URL template of a package's lines, with ``{path}`` as in graphs; None if the settings have none.

    Args:
        settings: The site's.
        package: First part of its files' paths.
        below: Returns its folder in the repository.
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


def _below(own: Path | None, path: str, folder: Path) -> str | None:
    """The folder of a package in its git repository, with a slash at the end.

    Args:
        own: The folder it is imported from; None if it is installed.
        path: One of its files.
        folder: Of the documentation, whose repository is searched for an installed package.

    Returns:
        Empty for the root, and without a repository; None if the repository does not have it.
    """
    if own is not None:
        root = _root(own)
        return f"{own.relative_to(root).as_posix()}/".removeprefix("./") if root else ""
    return _found_in(_root(folder), path)


@functools.lru_cache
def _found_in(root: Path | None, path: str) -> str | None:
    """The folder in which a repository has a file of this path."""
    if root is None:
        return None
    for file in (file for parent in _PACKAGE_FOLDERS for file in sorted(root.glob(parent + glob.escape(path)))):
        below = file.relative_to(root).as_posix().removesuffix(path)
        if not any(part.startswith(".") or part in _GENERATED for part in below.split("/")):
            return below
    return None


def _root(folder: Path) -> Path | None:
    return next((root for root in (folder, *folder.parents) if (root / ".git").exists()), None)
