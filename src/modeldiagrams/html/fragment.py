"""Diagrams as HTML: the fragment in a page, and its data file.

The interface to the browser is the custom element ``<model-graph graph="<id>" src="<data script>">``. Its children are
what readers see before and without the script: the picture as SVG, a note on a problem, the outline.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import quote

import msgspec
from markupsafe import Markup

from modeldiagrams.html.command import command_line, view_flags
from modeldiagrams.html.difference import change_list, difference_html, linked
from modeldiagrams.html.escape import html_text
from modeldiagrams.html.notes import NOTES, notes_prefix
from modeldiagrams.html.outline import outline, outline_rows
from modeldiagrams.html.packing import packing_digest, page_data
from modeldiagrams.html.recording import recorded_runs
from modeldiagrams.html.table import diagram_summary, summary_table
from modeldiagrams.html.templating import template
from modeldiagrams.html.texts import alt_text, caution, note, remarks
from modeldiagrams.ir.serialize import serialize
from modeldiagrams.render.assets import asset

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from modeldiagrams.engine.diagram import Comparison, Diagram
    from modeldiagrams.options.options import Options

__all__ = [
    "COMPARING",
    "DATA_START",
    "PROSE",
    "RECORDING",
    "SCRIPTS",
    "SITE_FILES",
    "Keep",
    "Link",
    "data_script",
    "difference_body",
    "element",
    "figure_classes",
    "fragment",
    "is_interactive",
    "viewer_files",
]

Keep = Callable[[Sequence[bytes], Callable[[], str]], str]
"""``(what the data of a page is made from, what makes it) → data``: from a cache, or made."""

Link = Callable[[str, str], str]
"""``(fully qualified class name, its HTML) → HTML``: how a host turns a class mention into a cross reference."""

_STATIC_FILES = ("model-graph.css",)
SCRIPTS = ("model-graph.js", "core.js", "explore.js", "menu.js", "lenses.js", "viz.js")
COMPARING = "compare.js"
"""Loaded by those who compare."""
PROSE = "prose.js"
"""Loaded by pages whose text refers to parts of a diagram."""
CODE = "code.js"
"""Loaded by those who zoom in on a diagram whose code the site links to."""
RECORDING = "recording.js"
"""Loaded by those who look at what a training recorded."""
SITE_FILES = (*_STATIC_FILES, *SCRIPTS, COMPARING, CODE, NOTES, PROSE, RECORDING, "third-party-notices.txt")
"""The viewer: files that all diagrams of a site share."""

_SMALLEST_SCALE = 0.9
"""The smallest text, of 10 px, then has 9 px; pictures that are too wide for that scroll instead."""


def fragment(
    diagram: Diagram,
    *,
    assets: str,
    link: Link | None = None,
    anchors: Mapping[str, str] | None = None,
    documents: bool = False,
) -> str:
    """The HTML of one diagram, to stand inside a page's content, in a figure that has the `figure_classes`.

    Args:
        diagram: What to show; a problem becomes a visible note, a missing picture leaves the note.
        assets: URL prefix from the page to the site's ``modeldiagrams/`` folder, e.g. ``"../modeldiagrams/"``.
        link: Makes cross references of class mentions in the outline; by default they are plain code.
        anchors: Node id → the ``id`` of its row in the outline.
        documents: Whether the page documents classes, which then light their parts.

    Returns:
        Stylesheet link, ``<model-graph>`` and script tag. The script is idempotent, so every fragment brings it.
    """
    if diagram.options.figure.no_links:
        link = None
    source = f"{assets}{quote(diagram.id)}.js"
    interactive = is_interactive(diagram)
    if diagram.comparison:
        body = difference_body(diagram, diagram.comparison, source=source)
        return template("fragment").render(assets=assets, element=body, interactive=interactive, table=None, more=[])
    html = element(diagram, source=source, link=link, anchors=anchors, has_command=True)
    summary = diagram_summary(diagram)
    table = summary_table(summary, link=link) if summary else None
    said = {NOTES: notes_prefix(diagram), PROSE: diagram.options.tour.steps or documents}
    more = [script for script, is_needed in said.items() if interactive and is_needed]
    return template("fragment").render(assets=assets, element=html, interactive=interactive, table=table, more=more)


def difference_body(diagram: Diagram, comparison: Comparison, *, source: str | None = None) -> Markup:
    """The list of changes, and the picture with links in both directions; arguments as of `element`."""
    anchor = _anchor(diagram)
    svg = diagram.picture.svg if diagram.picture else ""
    found = change_list(comparison.difference, details=comparison.details)
    listed = difference_html(found, anchor, svg)
    if diagram.picture:
        picture = msgspec.structs.replace(diagram.picture, svg=linked(svg, anchor), outline=())
        diagram = msgspec.structs.replace(diagram, picture=picture)
    if not diagram.picture and not diagram.shown_problem:
        return listed
    return listed + element(diagram, source=source)


def _anchor(diagram: Diagram) -> str:
    """What the ids of a list of changes begin with."""
    return diagram.options.figure.name or diagram.id


def figure_classes(options: Options) -> list[str]:
    """CSS classes of the figure around a fragment: ours, and those that the author gave the diagram."""
    return ["mg-figure", *(options.figure.class_ or "").split()]


DATA_START = "(globalThis.modelDiagramsData??=new Map).set("
"""How all data scripts begin, and no other script."""


def data_script(diagram: Diagram, keep: Keep | None = None) -> str:
    """The content of ``modeldiagrams/<id>.js``: a classic script (pages opened from disk can't fetch JSON).

    Args:
        diagram: One with a graph and a picture.
        keep: Makes the data, or takes it from a cache; by default it is made.

    Returns:
        JavaScript that registers graph and initial expansion state, packed, under the diagram's id; ASCII only.

    Raises:
        ValueError: if there is nothing to register, because the diagram has no graph or no picture.
    """
    graph = diagram.comparison.after if diagram.comparison else diagram.graph
    if graph is None or diagram.picture is None:
        raise ValueError(f"diagram {diagram.id!r} has no graph or no picture, so it has no data")
    fields = {"graph": serialize(graph), "state": msgspec.json.encode(diagram.picture.state)}
    if earlier := diagram.comparison and diagram.comparison.earlier:
        fields |= {"before": earlier.graph, "details": msgspec.json.encode(earlier.details)}
    if diagram.recordings:
        fields["recordings"] = msgspec.json.encode(diagram.recordings)
    if diagram.overlay:
        fields["overlay"] = diagram.overlay.for_pages()
    if diagram.code:
        fields["code"] = msgspec.json.encode(diagram.code)
    if diagram.picture.steps:
        fields["steps"] = msgspec.json.encode([step.shown() for step in diagram.picture.steps])
    parts = [part for name, value in fields.items() for part in (name.encode(), value)]
    make = partial(page_data, fields)
    data = keep([packing_digest().encode(), *parts], make) if keep else make()
    # a privacy plugin rewrites `src=//`, and `<` could end the script where it is inlined
    key = json.dumps(diagram.id).replace("<", r"\u003c").replace("//", r"/\u002f")
    return f"{DATA_START}{key},'{data}');\n"


def viewer_files(*, interactive: bool = True) -> dict[str, Path]:
    """The files that all diagrams of a site share.

    Args:
        interactive: Whether any diagram is more than a picture.

    Returns:
        Name under the site's ``modeldiagrams/`` folder → file.

    Raises:
        RenderError: if the viewer has not been built.
    """
    return {name: asset(name) for name in (SITE_FILES if interactive else _STATIC_FILES)}


def is_interactive(diagram: Diagram) -> bool:
    """Whether readers can open a diagram's modules, so that it needs viewer and data."""
    graph = diagram.comparison.after if diagram.comparison else diagram.graph
    if diagram.picture is None or graph is None or diagram.options.figure.static:
        return False
    return bool(graph.nodes)  # an empty model has nothing to open


def element(
    diagram: Diagram,
    *,
    source: str | None = None,
    link: Link | None = None,
    anchors: Mapping[str, str] | None = None,
    has_command: bool = False,
) -> Markup:
    """The ``<model-graph>`` itself.

    Args:
        diagram: What to show.
        source: URL of its data script; None where the page has the data.
        link: As in `fragment`.
        anchors: As in `fragment`.
        has_command: Whether readers are offered the command line that draws it.
    """
    figure = diagram.options.figure
    styles = {
        "width": _length(figure.width),
        "--mg-height": _length(figure.height),
        "--mg-least": f"{math.ceil(diagram.picture.width * _SMALLEST_SCALE)}px" if diagram.picture else None,
    }
    html = template("element").render(
        id=diagram.id,
        source=source,
        source_link=diagram.source_link,
        versions=json.dumps(figure.versions) if isinstance(figure.versions, dict) else figure.versions,
        static=not is_interactive(diagram),
        command=command_line(diagram.options) if has_command else None,
        view=view_flags(diagram.options),
        changes=_anchor(diagram) if diagram.comparison else None,
        recording=diagram.live or ("" if diagram.recordings else None),
        notes=notes_prefix(diagram),
        times=diagram.graph is not None and diagram.graph.model.time_ns is not None,
        runs=recorded_runs(diagram),
        align=figure.align,
        style=";".join(f"{name}:{value}" for name, value in styles.items() if value),
        svg=_labelled(diagram),
        problem=note(diagram),
        caution=caution(diagram),
        name=diagram.graph.model.name if diagram.graph else None,
        outline=outline(outline_rows(diagram), link, anchors),
        remarks=remarks(diagram.graph) if diagram.graph else [],
        interactive=is_interactive(diagram),
    )
    return Markup(html)  # noqa: S704  rendered with autoescape


def _labelled(diagram: Diagram) -> Markup | None:
    """The picture with its text alternative."""
    if diagram.picture is None:
        return None
    # no <title>: browsers would show it as a tooltip everywhere; search engines read the outline
    # what is inside an image is hidden from screen readers, and a difference has links there
    role = "group" if diagram.comparison else "img"
    attributes = f'role="{role}" aria-label="{html_text(alt_text(diagram))}" data-search-exclude'
    labelled = diagram.picture.svg.replace("<svg ", f"<svg {attributes} ", 1)
    return Markup(labelled)  # noqa: S704  drawn and escaped by the viewer


def _length(value: str | None) -> str | None:
    """A CSS length; a plain number means pixels. `Options` has checked the form."""
    return f"{value}px" if value and re.fullmatch(r"[\d.]+", value) else value
