"""Links to lines of source: from what a site says of its repositories to what the widget fills in.

Graphs have paths below the folder that Python imports from; a repository's root may lie above it (``src/``), several
packages may lie in several places of it, and the package that is documented may have been installed from it.
"""

from __future__ import annotations

import functools
import glob
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from modeldiagrams.settings import FORGES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from modeldiagrams.diagrams import Diagram
    from modeldiagrams.graph import Graph
    from modeldiagrams.settings import Settings

__all__ = ["line_link", "own_packages"]

_PLACES = ("", "src/", "*/", "*/src/", "*/*/", "*/*/src/")
"""Where a repository keeps its packages, likeliest first."""

_MADE = frozenset({"build", "dist", "site-packages", "node_modules"})
"""Folders of copies."""


def line_link(settings: Settings, diagram: Diagram, folder: Path) -> str | None:
    """URLs of lines of a model's source, for the widget to fill in: ``…/src/{path:mypkg}#L{line}``.

    After the colon stand the packages that a URL is for: a model is also made of libraries, which lie elsewhere.

    Args:
        settings: The site's.
        diagram: Just made, so that it knows its sources.
        folder: Of the documentation. A package that is installed is the site's own if its files lie in this folder's
            repository, too.

    Returns:
        URLs with a space between them; None if the site names no repository, or none of the model's code is in one.
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


def own_packages(diagram: Diagram) -> list[str]:
    """Packages in a model that are not installed: those of the files that it was made from."""
    return sorted(_own_files(_by_package(diagram.graph), diagram.sources)) if diagram.graph else []


def _by_package(graph: Graph) -> dict[str, list[str]]:
    """Package → its files, as the graph has them."""
    found: dict[str, dict[str, None]] = {}
    for place in (graph.model.source, *(getattr(node, "source", None) for node in graph.nodes)):
        if place:
            path = place.rpartition(":")[0]
            found.setdefault(path.partition("/")[0], {})[path] = None
    return {package: sorted(found[package]) for package in sorted(found)}


def _own_files(files: dict[str, list[str]], sources: Iterable[str]) -> dict[str, Path]:
    """Package → the folder that it is imported from, for those that are made of these sources."""
    ordered = sorted({Path(file).as_posix() for file in sources}, reverse=True)
    found = {}
    for package, paths in files.items():
        folders = (file.removesuffix(path) for path in paths for file in ordered if file.endswith(f"/{path}"))
        if (folder := next(folders, None)) is not None:
            found[package] = Path(folder)
    return found


def _url(settings: Settings, package: str, below: Callable[[], str | None]) -> str | None:
    """URL of a package's lines, with ``{path}`` as graphs have it; None if nobody has said it.

    Args:
        settings: The site's.
        package: First part of its files' paths.
        below: Tells where in its repository it is.
    """
    name = package.removesuffix(".py")
    link, repository = settings.source_link, settings.repository_url
    if isinstance(link, dict) and name in link:
        return link[name]
    if isinstance(link, str):
        place = below()
        return None if place is None else link.replace("{path}", f"{place}{{path}}")
    url = repository.get(name) if isinstance(repository, dict) else repository
    place = below() if url else None
    if isinstance(repository, dict) and url:
        place = place or ""  # the author knows that it is there
    if url is None or place is None:
        return None
    url = url.removesuffix("/").removesuffix(".git")
    return FORGES[str(urlsplit(url).hostname)].format(url=url).replace("{path}", f"{place}{{path}}")


def _below(own: Path | None, path: str, folder: Path) -> str | None:
    """The folder of a package below the root of its git repository, with a slash at the end.

    Args:
        own: Where it is imported from; None if it is installed.
        path: One of its files.
        folder: Of the documentation, in whose repository an installed package is looked for.

    Returns:
        Empty for the root itself, and where there is no repository; None if it is not the site's.
    """
    if own is not None:
        root = _root(own)
        return f"{own.relative_to(root).as_posix()}/".removeprefix("./") if root else ""
    return _found_in(_root(folder), path)


@functools.lru_cache
def _found_in(root: Path | None, path: str) -> str | None:
    """Where a repository has a file of this path."""
    if root is None:
        return None
    for file in (file for place in _PLACES for file in sorted(root.glob(place + glob.escape(path)))):
        below = file.relative_to(root).as_posix().removesuffix(path)
        if not any(part.startswith(".") or part in _MADE for part in below.split("/")):
            return below
    return None


def _root(folder: Path) -> Path | None:
    return next((root for root in (folder, *folder.parents) if (root / ".git").exists()), None)
