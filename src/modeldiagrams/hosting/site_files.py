"""The files in a site's ``modeldiagrams/`` folder.

Each diagram has ``<id>.json``, its graph, and ``<id>.txt``, the same as Markdown, unless it is a comparison, and
``<id>.js`` if it is interactive. All diagrams share the viewer and ``index.json``, which lists them for programs. Ids
only change if the author's options do.
"""

from __future__ import annotations

import functools
import json
from collections import defaultdict
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from modeldiagrams.common.version import read_version
from modeldiagrams.engine.catalogue.site_index import ListedDiagram, encode_index, read_index
from modeldiagrams.errors import GraphError
from modeldiagrams.html.fragment import (
    DATA_START,
    ELEMENT,
    SITE_FILES,
    build_data_script,
    is_interactive,
    list_viewer_files,
)
from modeldiagrams.html.tour_parts import draw_step_files, name_step_file
from modeldiagrams.ir.describing.text import describe, digest_describing
from modeldiagrams.ir.documents import encode
from modeldiagrams.ir.figures import list_figures
from modeldiagrams.ir.serialize import serialize
from modeldiagrams.options.settings import format_style_rule

if TYPE_CHECKING:
    from collections.abc import Iterable

    from modeldiagrams.engine.diagram import Diagram
    from modeldiagrams.html.fragment import Keep
    from modeldiagrams.ir.graph import Graph
    from modeldiagrams.options.settings import Settings

__all__ = [
    "DATA_START",
    "FOLDER",
    "INDEX",
    "OF_CATALOGUES",
    "SHARED_NAMES",
    "IndexEntry",
    "build_diagram_files",
    "build_shared_files",
    "encode_figures",
    "list_files",
    "make_entry",
    "parse_index",
]

FOLDER = "modeldiagrams"
"""The folder's name, without a leading underscore because GitHub Pages drops such folders."""

INDEX = "index.json"

_PACKAGE = "package.json"

SHARED_NAMES = frozenset({*SITE_FILES, INDEX, _PACKAGE})
"""Names of all files that diagrams may share."""

OF_CATALOGUES = ("*.card.svg", "catalogue-????????.html")
"""Patterns of the other files of catalogues than their data."""

_GRAPH, _DATA, _TEXT = ".json", ".js", ".txt"


class IndexEntry(msgspec.Struct, frozen=True, kw_only=True, order=True):
    """One diagram on one page."""

    id: str
    """The graph is ``modeldiagrams/<id>.json``."""
    model: str
    """As the author wrote it."""
    page: str
    """The URL relative to the site's root, with the diagram's anchor."""
    snapshot: str
    """The snapshot's name; "" for a graph file."""
    figures: str = ""
    """JSON text, which sets can hold and which pickles fast; "" if an earlier release wrote the list."""


def make_entry(diagram: Diagram, page: str) -> IndexEntry:
    """Build the index's entry of a diagram on a page.

    Args:
        diagram: A diagram with a graph.
        page: The page's URL relative to the site's root.
    """
    name = diagram.options.figure.name
    return IndexEntry(
        id=diagram.id,
        model=diagram.options.call.model,
        page=f"{page}#{name}" if name else page,
        snapshot=diagram.snapshot,
        figures=encode_figures(diagram.graph) if diagram.graph else "",
    )


def encode_figures(graph: Graph) -> str:
    """Return the figures for a list of diagrams as JSON text."""
    # layers and ops would be most of a long list
    return encode(msgspec.structs.replace(list_figures(graph), layers={}, ops=())).decode()


def build_diagram_files(diagrams: Iterable[Diagram], keep: Keep | None = None) -> dict[str, bytes]:
    """Build the files of single diagrams: name → content; for `keep` see `build_data_script`."""
    files = {}
    for diagram in diagrams:
        if diagram.graph is not None:
            content = files[diagram.id + _GRAPH] = serialize(diagram.graph)
            make = partial(describe, diagram.graph, f"{diagram.id}{_GRAPH}")
            text = keep([content, diagram.id.encode(), digest_describing().encode()], make) if keep else make()
            files[diagram.id + _TEXT] = text.encode("utf-8", "replace")
        if is_interactive(diagram):
            files[diagram.id + _DATA] = build_data_script(diagram, keep).encode()
        files |= draw_step_files(diagram)
    return files


@functools.lru_cache(maxsize=4096)
def list_files(
    diagram_id: str, *, graph: bool = True, interactive: bool = True, steps: int = 0, card: bool = False
) -> frozenset[str]:
    """List the names of the files that a diagram may have; a comparison has no graph."""
    pictures = [name_step_file(diagram_id, index) for index in range(steps)]
    own = [
        *([diagram_id + _GRAPH, diagram_id + _TEXT] if graph else []),
        *([diagram_id + _DATA] if interactive else []),
    ]
    return frozenset([*own, *pictures, *([f"{diagram_id}.card.svg"] if card else [])])


def build_shared_files(settings: Settings, entries: Iterable[IndexEntry]) -> dict[str, bytes]:
    """Build the files that all diagrams of a site share: name → content.

    Args:
        settings: The site's settings.
        entries: The site's diagrams that have a graph.

    Raises:
        RenderError: if the viewer has not been built.
    """
    files = list_viewer_files(interactive=not settings.static_only)
    contents = {name: file if isinstance(file, bytes) else file.read_bytes() for name, file in files.items()}
    contents["model-graph.css"] += format_style_rule(settings.variables).encode()
    contents["catalogue.css"] += format_style_rule(settings.variables, "model-catalogue").encode()
    if not settings.static_only:
        contents[_PACKAGE] = _describe_package()
    return {**contents, INDEX: _encode_index([*entries])}


def _describe_package() -> bytes:
    """Make the folder a package for npm, whose module defines the element."""
    module, types = ELEMENT
    package = {
        "name": "model-graph",
        "version": read_version(),
        "type": "module",
        "exports": {".": {"types": f"./{types}", "default": f"./{module}"}, "./*": "./*"},
        "sideEffects": True,
    }
    return json.dumps(package, indent=1).encode()


def _encode_index(entries: list[IndexEntry]) -> bytes:
    """Write a list of diagrams; of several figures of an id, the last count."""
    by_id = defaultdict[str, list[IndexEntry]](list)
    for entry in sorted(set(entries)):
        by_id[entry.id].append(entry)
    texts = {entry.id: entry.figures for entry in entries if entry.figures}
    numbers = {text: number for number, text in enumerate(dict.fromkeys(texts[id_] for id_ in by_id if id_ in texts))}
    diagrams = [
        # pages may use several names of the model's class
        ListedDiagram(
            id=id_,
            model=min((entry.model for entry in found), key=len),
            snapshots=sorted({entry.snapshot for entry in found if entry.snapshot}),
            pages=sorted({entry.page for entry in found}),
            figures=numbers.get(texts.get(id_, "")),
        )
        for id_, found in by_id.items()
    ]
    return encode_index(numbers, diagrams)


def parse_index(content: bytes) -> list[IndexEntry] | None:
    """Read the entries of an index; None if it can't be read."""
    try:
        index = read_index(content)
    except GraphError:
        return None
    texts: dict[int | None, str] = {number: encode(item).decode() for number, item in enumerate(index.figures)}
    return [
        IndexEntry(id=item.id, model=item.model, page=page, snapshot=snapshot, figures=texts.get(item.figures, ""))
        for item in index.diagrams
        for page in item.pages
        for snapshot in item.snapshots or [""]
    ]
