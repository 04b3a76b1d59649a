"""Builds the files of the page: everything the server sends except the recording."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec

from modeldiagrams.api.export import draw_diagram
from modeldiagrams.engine.problems import make_forward_problem
from modeldiagrams.html.escape import html_text
from modeldiagrams.html.fragment import ELEMENT, build_data_script, list_viewer_files, render_fragment
from modeldiagrams.ir.describing.text import describe
from modeldiagrams.ir.serialize import serialize

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from modeldiagrams.ir.graph import Graph

__all__ = ["EVENTS", "File", "build_site"]

EVENTS = "events"
"""The name of the stream, relative to the page."""

_TYPES = {
    ".js": "text/javascript",
    ".css": "text/css",
    ".txt": "text/plain",
    ".html": "text/html",
    ".json": "application/json",
}
_STYLE = b"""
:root{color-scheme:light dark}
body{margin:16px auto;max-width:1400px;padding:0 16px;font-family:system-ui,sans-serif}
h1{font-size:1.1rem;font-weight:600}
"""


class File(NamedTuple):
    """A file that the server sends."""

    content: bytes
    type: str


def build_site(graph: Graph, name: str) -> Mapping[str, File]:
    """Build the page and all its files, by name; the page's name is empty.

    Args:
        graph: The graph of the trained model.
        name: The name of the recording.

    Raises:
        RenderError: if the graph can't be drawn.
    """
    # missing data flow is not a problem: nobody asked for a trace
    problem = None if graph.status.state == "hierarchy" else make_forward_problem(graph.model.name, graph)
    diagram = msgspec.structs.replace(draw_diagram(graph, {}), id="model", live=EVENTS, problem=problem)
    files = {file: path.read_bytes() for file, path in list_viewer_files().items() if file not in ELEMENT}
    files |= {"model.js": build_data_script(diagram).encode(), "page.css": _STYLE}
    # the outline links to them
    files |= {"model.json": serialize(graph), "model.txt": describe(graph, "model.json").encode("utf-8", "replace")}
    found = {file: File(content, _find_type(file)) for file, content in files.items()}
    notes = graph.status.notes if graph.status.state == "hierarchy" else ()
    page = _render_page(name, render_fragment(diagram, assets=""), notes)
    return {**found, "": File(page.encode(), _find_type("page.html"))}


def _find_type(name: str) -> str:
    return f"{_TYPES['.' + name.rpartition('.')[2]]}; charset=utf-8"


def _render_page(name: str, body: str, notes: Iterable[str]) -> str:
    title = html_text(name)
    paragraphs = "".join(f"<p>{html_text(note)}</p>" for note in notes)
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<title>{title}</title><link rel="stylesheet" href="page.css"><link rel="icon" href="data:,">'
        f"<main><h1>{title}</h1>{body}{paragraphs}</main>"
    )
