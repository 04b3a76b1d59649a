"""What a site carries beside its pages: the viewer, and what it says about its diagrams to programs.

``modeldiagrams/index.json`` lists the diagrams of a site; ``modeldiagrams/<id>.json`` is the graph of each. Ids stay
the same as long as the author asks for the same; what changes between versions is the content.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from modeldiagrams.page import SITE_FILES, site_files
from modeldiagrams.serialize import serialize
from modeldiagrams.settings import style_rule

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from modeldiagrams.diagrams import Diagram
    from modeldiagrams.settings import Settings

__all__ = ["INDEX", "Listed", "graph_files", "index_file", "outdated_files", "read_index", "shared_files"]

INDEX = "index.json"
"""The list's name in the site's ``modeldiagrams/`` folder."""


class Listed(msgspec.Struct, frozen=True, kw_only=True, order=True):
    """One diagram on one page."""

    id: str
    """Its graph is ``modeldiagrams/<id>.json``."""
    model: str
    """As the author wrote it."""
    page: str
    """URL below the site's root, with the diagram's anchor."""


class _Index(msgspec.Struct, frozen=True, kw_only=True):
    format: Literal["modeldiagrams-index"] = "modeldiagrams-index"
    version: Literal["1.0"] = "1.0"
    diagrams: list[Listed]


def shared_files(settings: Settings, listed: Iterable[Listed]) -> dict[str, bytes]:
    """What all diagrams of a site share: name in the site's ``modeldiagrams/`` folder → content.

    Args:
        settings: The site's.
        listed: Its diagrams that have a graph.

    Raises:
        RenderError: if the viewer has not been built.
    """
    files = site_files(interactive=not settings.static_only)
    contents = {name: file if isinstance(file, bytes) else file.read_bytes() for name, file in files.items()}
    contents["model-graph.css"] += style_rule(settings.css_variables).encode()
    return {**contents, INDEX: index_file(listed)}


def index_file(listed: Iterable[Listed]) -> bytes:
    """The content of ``modeldiagrams/index.json``: every diagram that has a graph, sorted by id and page."""
    content = msgspec.json.encode(_Index(diagrams=sorted(set(listed))))
    return msgspec.json.format(content, indent=1) + b"\n"


def read_index(path: Path) -> list[Listed]:
    """What an earlier build has listed; nothing if there was none, or it was another version's."""
    index = _read(path)
    return index.diagrams if index else []


def outdated_files(folder: Path, kept: Collection[str]) -> list[Path]:
    """Files that an earlier build has written and this one would not.

    Args:
        folder: The site's ``modeldiagrams/`` folder. Nothing is ours there but what the list of diagrams in it names,
            and what all diagrams share.
        kept: Names of the files that belong there.
    """
    index = _read(folder / INDEX)
    if index is None:
        return []
    own = {f"{listed.id}{ending}" for listed in index.diagrams for ending in (".js", ".json")}
    names = sorted({*own, *SITE_FILES, INDEX} - {*kept})
    return [folder / name for name in names if Path(name).name == name and (folder / name).is_file()]


def _read(path: Path) -> _Index | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=_Index)
    except (OSError, msgspec.MsgspecError):
        return None


def graph_files(diagrams: Iterable[Diagram]) -> dict[str, bytes]:
    """The graphs of these diagrams: name in the site's ``modeldiagrams/`` folder → content."""
    return {f"{diagram.id}.json": serialize(diagram.graph) for diagram in diagrams if diagram.graph is not None}
