"""Diagrams outside of a site: one self-contained file, and the outputs of a notebook."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import quote

import msgspec
from markupsafe import Markup

from modeldiagrams.html.fragment import (
    COMPARING,
    RECORDING,
    SCRIPTS,
    data_script,
    difference_body,
    element,
    is_interactive,
)
from modeldiagrams.html.images import images_list
from modeldiagrams.html.notes import NOTES, notes_prefix, plain_notes
from modeldiagrams.html.packing import packed
from modeldiagrams.html.templating import template
from modeldiagrams.html.texts import alt_text, caution, note
from modeldiagrams.options.palette import palette_variables
from modeldiagrams.options.settings import style_rule
from modeldiagrams.render.assets import asset

if TYPE_CHECKING:
    from modeldiagrams.engine.diagram import Diagram

__all__ = ["notebook_output", "notebook_viewer", "standalone"]

_PLAIN = ' "<>=/:;,()!*+?@$[]{}|^`'
"""What may stand in the URL of a picture as it is."""


def standalone(diagram: Diagram) -> str:
    """One self-contained HTML file that works from disk, offline and in a sandboxed frame.

    Args:
        diagram: What to show.

    Returns:
        A whole document with picture, data and viewer inside.

    Raises:
        RenderError: if the viewer has not been built.
    """
    scripts: tuple[str, ...] = SCRIPTS
    if diagram.comparison:
        scripts = (*scripts, COMPARING)
        title = f"What changed in {diagram.comparison.after.model.name}"
        body = difference_body(diagram, diagram.comparison)
    else:
        title = diagram.graph.model.name if diagram.graph else diagram.options.call.model
        body = element(diagram) + plain_notes(diagram) + images_list(diagram)
    if diagram.recordings:
        scripts = (*scripts, RECORDING)
    viewer = _viewer(_parts(scripts)) if is_interactive(diagram) else None
    if viewer and notes_prefix(diagram):
        viewer += Markup(asset(NOTES).read_text("utf-8"))  # noqa: S704  our own file
    return _page(title, _palette(diagram) + _with_data(diagram, body), viewer=viewer)


def notebook_output(diagram: Diagram, svg: str) -> str:
    """The output of one cell: the still picture, and what `notebook_viewer` makes an interactive diagram of.

    Notebooks that are not trusted, and sites that show notebooks, leave no more of it than image and text.

    Args:
        diagram: What to show.
        svg: Its picture as a file.

    Returns:
        HTML to stand in a notebook.
    """
    body = element(diagram) + plain_notes(diagram) + images_list(diagram)
    return template("output").render(
        alt=alt_text(diagram),
        # shorter than in base64; in an attribute with single quotes
        picture=Markup(quote(svg, safe=_PLAIN)),  # noqa: S704  without quotes and ampersands
        problem=note(diagram),
        caution=caution(diagram),
        diagram=packed(_framed(diagram, body).encode()) if is_interactive(diagram) else None,
    )


@cache
def notebook_viewer() -> str:
    """A script that makes the diagrams of all outputs in a notebook interactive.

    Raises:
        RenderError: if the viewer has not been built.
    """
    diagram, parts = "<!-- diagram -->", "<!-- parts -->"
    page = _page("Diagram", Markup(diagram), viewer=_viewer(parts))  # noqa: S704  our own text
    head, rest = page.split(diagram)
    # the parts are packed already: once more would make them longer
    around = packed(msgspec.json.encode([head, *rest.split(parts)]))
    script = asset("notebook.js").read_text("utf-8")
    return f"<script>{script}modelDiagramsNotebook('{around}',{_parts()})</script>"


def _framed(diagram: Diagram, body: Markup) -> Markup:
    """A diagram with its data, and with what only this one needs of the viewer."""
    html = _palette(diagram) + _with_data(diagram, body)
    needed = {RECORDING: diagram.recordings, NOTES: notes_prefix(diagram) and is_interactive(diagram)}
    for name in (name for name, is_needed in needed.items() if is_needed):
        script = asset(name).read_text("utf-8")
        html += Markup(f"<script>{script}</script>")  # noqa: S704  our own script, which does not end it
    return html


def _palette(diagram: Diagram) -> Markup:
    """A style sheet with the colours of kinds that its author chose."""
    rule = style_rule(palette_variables(diagram.options.view.palette))
    return Markup(f"<style>{rule.strip()}</style>\n") if rule else Markup()  # noqa: S704  checked colours


def _with_data(diagram: Diagram, html: Markup) -> Markup:
    """The HTML of a diagram and, if it is interactive, its data."""
    if is_interactive(diagram):
        html += Markup(f"<script>{data_script(diagram)}</script>")  # noqa: S704  nothing in it ends the script
    return html


def _page(title: str, body: Markup, *, viewer: Markup | None) -> str:
    return template("standalone").render(
        title=title,
        css=Markup(asset("packed.css").read_text("utf-8")),  # noqa: S704  our own file
        body=body,
        viewer=viewer,
    )


def _viewer(parts: str) -> Markup:
    """A script that starts the viewer from its own text."""
    start = asset("packed.js").read_text("utf-8")
    return Markup(f"globalThis.modelDiagramsPacked={parts};\n{start}")  # noqa: S704  nothing in it ends the script


@cache
def _parts(names: tuple[str, ...] = SCRIPTS) -> str:
    """The viewer's scripts, packed, as an object of JavaScript: names with spaces between → these scripts in one."""
    parts: dict[str, str] = msgspec.json.decode(asset("packed.json").read_bytes())
    others = {*names}.difference(*map(str.split, parts))
    parts |= {name: packed(asset(name).read_bytes()) for name in names if name in others}
    return msgspec.json.encode(parts).decode()
