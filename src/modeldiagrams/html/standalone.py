"""Renders diagrams outside a site: one self-contained file, or the outputs of a notebook."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import quote

import msgspec
from markupsafe import Markup

from modeldiagrams.html.case_list import list_page_cases
from modeldiagrams.html.descriptions import describe_picture, describe_problem, explain_caution
from modeldiagrams.html.fragment import (
    CASES,
    COMPARING,
    RECORDING,
    SCRIPTS,
    SIZES,
    build_data_script,
    has_free_sizes,
    is_interactive,
    render_comparison,
    render_element,
)
from modeldiagrams.html.image_list import render_images
from modeldiagrams.html.note_list import NOTES, make_notes_prefix, render_plain_notes
from modeldiagrams.html.packing import pack
from modeldiagrams.html.templating import load_template
from modeldiagrams.options.palette import list_palette_variables
from modeldiagrams.options.settings import format_style_rule
from modeldiagrams.render.assets import find_asset

if TYPE_CHECKING:
    from modeldiagrams.engine.diagram import Diagram

__all__ = ["build_notebook_viewer", "render_notebook_output", "render_standalone"]

_PLAIN = ' "<>=/:;,()!*+?@$[]{}|^`'
"""Characters that need no escaping in the URL of a picture."""


def render_standalone(diagram: Diagram) -> str:
    """Render one self-contained HTML file that works from disk, offline and in a sandboxed frame.

    Args:
        diagram: The diagram.

    Returns:
        A complete document with picture, data and viewer.

    Raises:
        RenderError: if the viewer has not been built.
    """
    scripts: tuple[str, ...] = SCRIPTS
    if diagram.comparison:
        scripts = (*scripts, COMPARING)
        title = f"What changed in {diagram.comparison.after.model.name}"
        body = render_comparison(diagram, diagram.comparison)
    else:
        title = diagram.graph.model.name if diagram.graph else diagram.options.call.model
        body = render_element(diagram) + render_plain_notes(diagram) + render_images(diagram)
    scripts = (*scripts, *_list_asked_scripts(diagram))
    viewer = _build_viewer(_pack_scripts(scripts)) if is_interactive(diagram) else None
    if viewer:
        started = [find_asset(name).read_text("utf-8") for name in _list_started_scripts(diagram)]
        viewer += Markup("".join(started))  # noqa: S704  our own files
    return _render_page(title, _render_palette(diagram) + _add_data(diagram, body), viewer=viewer)


def render_notebook_output(diagram: Diagram, svg: str) -> str:
    """Render the output of one cell: the still picture, and data for `build_notebook_viewer` to make it interactive.

    Untrusted notebooks, and sites that show notebooks, keep only image and text.

    Args:
        diagram: The diagram.
        svg: Its picture as a file.

    Returns:
        HTML for a notebook.
    """
    body = render_element(diagram) + render_plain_notes(diagram) + render_images(diagram)
    return load_template("output").render(
        alt=describe_picture(diagram),
        # shorter than base64; in an attribute with single quotes
        picture=Markup(quote(svg, safe=_PLAIN)),  # noqa: S704  without quotes and ampersands
        problem=describe_problem(diagram),
        caution=explain_caution(diagram),
        diagram=pack(_render_frame(diagram, body).encode()) if is_interactive(diagram) else None,
    )


@cache
def build_notebook_viewer() -> str:
    """Build a script that makes the diagrams in all outputs of a notebook interactive.

    Raises:
        RenderError: if the viewer has not been built.
    """
    diagram, parts = "<!-- diagram -->", "<!-- parts -->"
    page = _render_page("Diagram", Markup(diagram), viewer=_build_viewer(parts))  # noqa: S704  our own text
    head, rest = page.split(diagram)
    # the parts are already packed
    around = pack(msgspec.json.encode([head, *rest.split(parts)]))
    script = find_asset("notebook.js").read_text("utf-8")
    return f"<script>{script}modelDiagramsNotebook('{around}',{_pack_scripts((*SCRIPTS, SIZES))})</script>"


def _render_frame(diagram: Diagram, body: Markup) -> Markup:
    """Render a diagram with its data and the scripts that only some diagrams need."""
    html = _render_palette(diagram) + _add_data(diagram, body)
    started = _list_started_scripts(diagram) if is_interactive(diagram) else []
    for name in [*([RECORDING] if diagram.recordings else []), *started]:
        script = find_asset(name).read_text("utf-8")
        html += Markup(f"<script>{script}</script>")  # noqa: S704  our own script, which does not end it
    return html


def _list_asked_scripts(diagram: Diagram) -> list[str]:
    """List the scripts that readers ask for and that only some diagrams need."""
    needed = {RECORDING: diagram.recordings, SIZES: has_free_sizes(diagram) and not diagram.comparison}
    return [name for name, is_needed in needed.items() if is_needed]


def _list_started_scripts(diagram: Diagram) -> list[str]:
    """List the scripts that start by themselves and that only some diagrams need."""
    needed = {NOTES: make_notes_prefix(diagram), CASES: list_page_cases(diagram)}
    return [name for name, is_needed in needed.items() if is_needed]


def _render_palette(diagram: Diagram) -> Markup:
    """Render a style sheet with the author's colours of kinds."""
    rule = format_style_rule(list_palette_variables(diagram.options.view.palette))
    return Markup(f"<style>{rule.strip()}</style>\n") if rule else Markup()  # noqa: S704  checked colours


def _add_data(diagram: Diagram, html: Markup) -> Markup:
    """Add the data of a diagram to its HTML if it is interactive."""
    if is_interactive(diagram):
        html += Markup(f"<script>{build_data_script(diagram)}</script>")  # noqa: S704  nothing in it ends the script
    return html


def _render_page(title: str, body: Markup, *, viewer: Markup | None) -> str:
    return load_template("standalone").render(
        title=title,
        css=Markup(find_asset("packed.css").read_text("utf-8")),  # noqa: S704  our own file
        body=body,
        viewer=viewer,
    )


def _build_viewer(parts: str) -> Markup:
    """Build a script that starts the viewer from its own text."""
    start = find_asset("packed.js").read_text("utf-8")
    return Markup(f"globalThis.modelDiagramsPacked={parts};\n{start}")  # noqa: S704  nothing in it ends the script


@cache
def _pack_scripts(names: tuple[str, ...] = SCRIPTS) -> str:
    """Pack the viewer's scripts into a JavaScript object; its keys are names separated by spaces."""
    parts: dict[str, str] = msgspec.json.decode(find_asset("packed.json").read_bytes())
    others = {*names}.difference(*map(str.split, parts))
    parts |= {name: pack(find_asset(name).read_bytes()) for name in names if name in others}
    return msgspec.json.encode(parts).decode()
