"""Renders diagrams as HTML: the fragment in a page, and its data file.

The interface to the browser is the custom element ``<model-graph graph="<id>" src="<data script>">``. Its children are
shown until the script has loaded, and without scripts: the picture as SVG, a note on a problem, the outline.
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

from modeldiagrams.html.case_list import list_page_cases
from modeldiagrams.html.change_list import link_marks, list_changes, render_difference
from modeldiagrams.html.command import build_command, build_view_flags
from modeldiagrams.html.descriptions import describe_picture, describe_problem, explain_caution
from modeldiagrams.html.escape import html_text
from modeldiagrams.html.left_out import render_left_out
from modeldiagrams.html.module_table import render_summary, summarise_diagram
from modeldiagrams.html.note_list import NOTES, make_notes_prefix
from modeldiagrams.html.outline import list_outline_rows, render_outline
from modeldiagrams.html.packing import digest_packing, pack_page_data
from modeldiagrams.html.templating import load_template
from modeldiagrams.ir.chosen_sizes import own_sizes
from modeldiagrams.ir.remarks import list_remarks
from modeldiagrams.ir.serialize import serialize
from modeldiagrams.render.assets import find_asset

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from modeldiagrams.engine.diagram import Comparison, Diagram
    from modeldiagrams.options.options import Options

__all__ = [
    "CASES",
    "CATALOGUE",
    "COMPARING",
    "DATA_START",
    "ELEMENT",
    "PROSE",
    "RECORDING",
    "SCRIPTS",
    "SITE_FILES",
    "SIZES",
    "Keep",
    "Link",
    "build_data_call",
    "build_data_script",
    "has_free_sizes",
    "is_interactive",
    "list_figure_classes",
    "list_viewer_files",
    "render_comparison",
    "render_element",
    "render_fragment",
]

Keep = Callable[[Sequence[bytes], Callable[[], str]], str]
"""``(inputs of the data of a page, function that makes it) → data``, cached or made."""

Link = Callable[[str, str], str]
"""``(fully qualified class name, its HTML) → HTML``: turns the mention of a class into a cross reference."""

_STATIC_FILES = ("model-graph.css", "catalogue.css")
SCRIPTS = ("model-graph.js", "core.js", "explore.js", "menu.js", "lenses.js", "viz.js")
COMPARING = "compare.js"
"""Loaded when readers compare versions."""
PROSE = "prose.js"
"""Loaded on pages whose text refers to nodes of a diagram."""
CODE = "code.js"
"""Loaded when readers zoom in on a diagram whose code the site links to."""
CATALOGUE = "catalogue.js"
"""Loaded on pages with a catalogue, as is `catalogue.css`."""
CASES = "cases.js"
"""Loaded on pages with diagrams of several cases."""
RECORDING = "recording.js"
"""Loaded when readers open a recording of a training."""
SIZES = "sizes.js"
"""Loaded when readers set the sizes of inputs."""
ELEMENT = ("element.mjs", "element.d.mts")
"""The widget as ES module for pages that authors write, and its types."""
_OPTIONAL = (COMPARING, CODE, CASES, CATALOGUE, NOTES, PROSE, RECORDING, SIZES)
SITE_FILES = (*_STATIC_FILES, *SCRIPTS, *_OPTIONAL, *ELEMENT, "third-party-notices.txt")
"""The files of the viewer, which all diagrams of a site share."""

_SMALLEST_SCALE = 0.9
"""Shrinks the smallest text from 10 px to 9 px; wider pictures scroll instead."""


def render_fragment(
    diagram: Diagram,
    *,
    assets: str,
    link: Link | None = None,
    anchors: Mapping[str, str] | None = None,
    documents: bool = False,
) -> str:
    """Render one diagram, for a figure with the `list_figure_classes` in the content of a page.

    Args:
        diagram: The diagram; a problem becomes a visible note, also if there is no picture.
        assets: URL prefix from the page to the site's ``modeldiagrams/`` folder, e.g. ``"../modeldiagrams/"``.
        link: Turns class names in the outline into cross references; by default they are plain code.
        anchors: The ``id`` of each row in the outline, by node id.
        documents: Whether the page documents classes, which then highlight their nodes.

    Returns:
        Stylesheet link, ``<model-graph>`` and script tag. The script is idempotent, so every fragment includes it.
    """
    if diagram.options.figure.no_links:
        link = None
    source = f"{assets}{quote(diagram.id)}.js"
    interactive = is_interactive(diagram)
    if diagram.comparison:
        body = render_comparison(diagram, diagram.comparison, source=source)
        return load_template("fragment").render(
            assets=assets, element=body, interactive=interactive, table=None, more=[]
        )
    html = render_element(diagram, source=source, link=link, anchors=anchors, is_on_site=True)
    summary = summarise_diagram(diagram)
    table = render_summary(summary, link=link) if summary else None
    needed = {
        NOTES: make_notes_prefix(diagram),
        CASES: list_page_cases(diagram),
        PROSE: diagram.options.tour.steps or documents,
    }
    more = [script for script, is_needed in needed.items() if interactive and is_needed]
    return load_template("fragment").render(
        assets=assets, element=html, interactive=interactive, table=table, more=more
    )


def render_comparison(diagram: Diagram, comparison: Comparison, *, source: str | None = None) -> Markup:
    """Render the list of changes and the picture, with links in both directions; see `render_element`."""
    anchor = _get_prefix(diagram)
    svg = diagram.picture.svg if diagram.picture else ""
    found = list_changes(comparison.difference, details=comparison.details)
    listed = render_difference(found, anchor, svg)
    if diagram.picture:
        picture = msgspec.structs.replace(diagram.picture, svg=link_marks(svg, anchor), outline=())
        diagram = msgspec.structs.replace(diagram, picture=picture)
    if not diagram.picture and not diagram.shown_problem:
        return listed
    return listed + render_element(diagram, source=source)


def _get_prefix(diagram: Diagram) -> str:
    """Return the prefix of the ids in a list of changes."""
    return diagram.options.figure.name or diagram.id


def list_figure_classes(options: Options) -> list[str]:
    """Return the CSS classes of the figure around a fragment: ours and the author's."""
    return ["mg-figure", *(options.figure.class_ or "").split()]


DATA_START = "(globalThis.modelDiagramsData??=new Map).set("
"""All data scripts begin with this, and no other script does."""


def build_data_script(diagram: Diagram, keep: Keep | None = None) -> str:
    """Build ``modeldiagrams/<id>.js``: a classic script, because pages opened from disk can't fetch JSON.

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
    make = partial(pack_page_data, fields)
    data = keep([digest_packing().encode(), *parts], make) if keep else make()
    return build_data_call(diagram.id, data)


def build_data_call(id_: str, data: str) -> str:
    """Build the script that registers packed data under an id."""
    # privacy plugins rewrite `src=//`, and `<` could end an inlined script
    key = json.dumps(id_).replace("<", r"\u003c").replace("//", r"/\u002f")
    return f"{DATA_START}{key},'{data}');\n"


def list_viewer_files(*, interactive: bool = True) -> dict[str, Path]:
    """Return the files that all diagrams of a site share.

    Args:
        interactive: Whether any diagram is interactive.

    Returns:
        Files by name in the site's ``modeldiagrams/`` folder.

    Raises:
        RenderError: if the viewer has not been built.
    """
    return {name: find_asset(name) for name in (SITE_FILES if interactive else _STATIC_FILES)}


def is_interactive(diagram: Diagram) -> bool:
    """Whether readers can open modules, so that the diagram needs viewer and data."""
    graph = diagram.comparison.after if diagram.comparison else diagram.graph
    if diagram.picture is None or graph is None or diagram.options.figure.static:
        return False
    return bool(graph.nodes)  # an empty model has nothing to open


def has_free_sizes(diagram: Diagram) -> bool:
    """Whether readers can set sizes of inputs."""
    graph = diagram.graph
    named = graph.sizes.sizes if graph and graph.sizes else {}
    return graph is not None and any(not named[name].counted for name in own_sizes(graph))


def render_element(
    diagram: Diagram,
    *,
    source: str | None = None,
    link: Link | None = None,
    anchors: Mapping[str, str] | None = None,
    is_on_site: bool = False,
) -> Markup:
    """Render the ``<model-graph>`` element.

    Args:
        diagram: The diagram.
        source: URL of its data script; None if the page contains the data.
        link: As in `render_fragment`.
        anchors: As in `render_fragment`.
        is_on_site: Whether to offer readers the command that draws it, and the graph as text and as JSON.
    """
    figure = diagram.options.figure
    html = load_template("element").render(
        id=diagram.id,
        source=source,
        source_link=diagram.source_link,
        versions=json.dumps(figure.versions) if isinstance(figure.versions, dict) else figure.versions,
        static=not is_interactive(diagram),
        command=build_command(diagram.options) if is_on_site else None,
        text=source.removesuffix(".js") if is_on_site and source else None,
        view=build_view_flags(diagram.options),
        changes=_get_prefix(diagram) if diagram.comparison else None,
        recording=diagram.live or ("" if diagram.recordings else None),
        notes=make_notes_prefix(diagram),
        cases=json.dumps(cases) if (cases := list_page_cases(diagram)) else None,
        sizes=not diagram.comparison and has_free_sizes(diagram),
        times=diagram.graph is not None and diagram.graph.model.time_ns is not None,
        numbers=json.dumps(names) if (names := _list_lenses(diagram)) else None,
        runs=diagram.recordings,
        align=figure.align,
        style=_build_style(diagram),
        svg=_add_label(diagram),
        problem=describe_problem(diagram),
        caution=explain_caution(diagram),
        name=diagram.graph.model.name if diagram.graph else None,
        outline=render_outline(list_outline_rows(diagram), link, anchors),
        left_out=render_left_out(diagram.graph) if diagram.graph else None,
        remarks=list_remarks(diagram.graph) if diagram.graph else [],
        interactive=is_interactive(diagram),
    )
    return Markup(html)  # noqa: S704  rendered with autoescape


def _build_style(diagram: Diagram) -> str:
    figure = diagram.options.figure
    styles = {
        "width": _format_length(figure.width),
        "--mg-height": _format_length(figure.height),
        "--mg-least": f"{math.ceil(diagram.picture.width * _SMALLEST_SCALE)}px" if diagram.picture else None,
    }
    return ";".join(f"{name}:{value}" for name, value in styles.items() if value)


def _list_lenses(diagram: Diagram) -> list[str]:
    """List the names of the author's numbers, which the menu offers before their data is loaded."""
    return [one.name for one in diagram.overlay.numbers] if diagram.overlay else []


def _add_label(diagram: Diagram) -> Markup | None:
    """Add the text alternative to the picture."""
    if diagram.picture is None:
        return None
    # no <title>: browsers would show it as a tooltip everywhere, and search engines read the outline
    # screen readers ignore the content of an image, but a difference contains links
    role = "group" if diagram.comparison else "img"
    attributes = f'role="{role}" aria-label="{html_text(describe_picture(diagram))}" data-search-exclude'
    labelled = diagram.picture.svg.replace("<svg ", f"<svg {attributes} ", 1)
    return Markup(labelled)  # noqa: S704  drawn and escaped by the viewer


def _format_length(value: str | None) -> str | None:
    """Format a CSS length; a plain number means pixels. `Options` has checked it."""
    return f"{value}px" if value and re.fullmatch(r"[\d.]+", value) else value
