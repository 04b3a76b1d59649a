"""The files that a site carries beside its pages, in its ``modeldiagrams/`` folder: what they are and what is in them.

Each diagram has ``<id>.json``, its graph, unless it shows what changed, and if it is interactive ``<id>.js``, its data.
All diagrams share the viewer and ``index.json``, which lists them for programs. Ids stay the same as long as the author
asks for the same; what changes between versions of a site is the content.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from typing import TYPE_CHECKING, Literal

import msgspec

from modeldiagrams.common.decoding import decodable
from modeldiagrams.html.fragment import DATA_START, SITE_FILES, build_data_script, is_interactive, viewer_files
from modeldiagrams.html.tour import step_file, step_files
from modeldiagrams.ir.serialize import serialize
from modeldiagrams.options.settings import format_style_rule

if TYPE_CHECKING:
    from collections.abc import Iterable

    from modeldiagrams.engine.diagram import Diagram
    from modeldiagrams.html.fragment import Keep
    from modeldiagrams.options.settings import Settings

__all__ = [
    "DATA_START",
    "FOLDER",
    "INDEX",
    "SHARED_NAMES",
    "IndexEntry",
    "diagram_file_names",
    "diagram_files",
    "index_entry",
    "parse_index",
    "shared_files",
]

FOLDER = "modeldiagrams"
"""The folder's name; without a leading underscore, because GitHub Pages drops such folders."""

INDEX = "index.json"

SHARED_NAMES = frozenset({*SITE_FILES, INDEX})
"""Names of all files that diagrams may share."""

_GRAPH, _DATA = ".json", ".js"


class IndexEntry(msgspec.Struct, frozen=True, kw_only=True, order=True):
    """One diagram on one page."""

    id: str
    """Its graph is ``modeldiagrams/<id>.json``."""
    model: str
    """As the author wrote it."""
    page: str
    """URL below the site's root, with the diagram's anchor."""
    snapshot: str
    """Name of its snapshot; "" for a graph file."""


class _Listed(msgspec.Struct, frozen=True, kw_only=True):
    """One diagram on all its pages: in all languages of a site, and where several pages show it."""

    id: str
    model: str
    snapshots: list[str]
    """Several if pages call the model by several names."""
    pages: list[str]


class _Index(msgspec.Struct, frozen=True, kw_only=True):
    format: Literal["modeldiagrams-index"] = "modeldiagrams-index"
    version: Literal["1.0"] = "1.0"
    diagrams: list[_Listed]


def index_entry(diagram: Diagram, page: str) -> IndexEntry:
    """The entry of a diagram on a page.

    Args:
        diagram: One with a graph.
        page: URL below the site's root.
    """
    name = diagram.options.figure.name
    return IndexEntry(
        id=diagram.id,
        model=diagram.options.call.model,
        page=f"{page}#{name}" if name else page,
        snapshot=diagram.snapshot,
    )


def diagram_files(diagrams: Iterable[Diagram], keep: Keep | None = None) -> dict[str, bytes]:
    """The files of these diagrams alone: name → content; `keep` as of `build_data_script`."""
    files = {}
    for diagram in diagrams:
        if diagram.graph is not None:
            files[diagram.id + _GRAPH] = serialize(diagram.graph)
        if is_interactive(diagram):
            files[diagram.id + _DATA] = build_data_script(diagram, keep).encode()
        files |= step_files(diagram)
    return files


@functools.lru_cache(maxsize=4096)
def diagram_file_names(
    diagram_id: str, *, graph: bool = True, interactive: bool = True, steps: int = 0
) -> frozenset[str]:
    """Names of the files that one diagram may have; one of what changed has no graph of its own."""
    pictures = [step_file(diagram_id, index) for index in range(steps)]
    own = [*([diagram_id + _GRAPH] if graph else []), *([diagram_id + _DATA] if interactive else [])]
    return frozenset([*own, *pictures])


def shared_files(settings: Settings, entries: Iterable[IndexEntry]) -> dict[str, bytes]:
    """The files that all diagrams of a site share: name → content.

    Args:
        settings: The site's.
        entries: All its diagrams that have a graph.

    Raises:
        RenderError: if the viewer has not been built.
    """
    files = viewer_files(interactive=not settings.static_only)
    contents = {name: file if isinstance(file, bytes) else file.read_bytes() for name, file in files.items()}
    contents["model-graph.css"] += format_style_rule(settings.variables).encode()
    index = msgspec.json.encode(_Index(diagrams=_listed(entries)))
    return {**contents, INDEX: msgspec.json.format(index, indent=1) + b"\n"}


def _listed(entries: Iterable[IndexEntry]) -> list[_Listed]:
    by_id = defaultdict[str, list[IndexEntry]](list)
    for entry in sorted(set(entries)):
        by_id[entry.id].append(entry)
    return [
        # pages may call a model by several names of its class
        _Listed(
            id=id_,
            model=min((entry.model for entry in found), key=len),
            snapshots=sorted({entry.snapshot for entry in found if entry.snapshot}),
            pages=sorted({entry.page for entry in found}),
        )
        for id_, found in by_id.items()
    ]


def parse_index(content: bytes) -> list[IndexEntry] | None:
    """The entries of an index; None if another version of this package wrote it."""
    try:
        index = msgspec.json.decode(content, type=decodable(_Index))
    except msgspec.MsgspecError:
        return None
    return [
        IndexEntry(id=item.id, model=item.model, page=page, snapshot=snapshot)
        for item in index.diagrams
        for page in item.pages
        for snapshot in item.snapshots or [""]
    ]
