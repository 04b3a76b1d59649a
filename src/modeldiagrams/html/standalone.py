"""One self-contained file: a diagram with its data and the whole viewer."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import msgspec
from markupsafe import Markup

from modeldiagrams.html.fragment import SCRIPTS, data_script, element, is_interactive
from modeldiagrams.html.packing import packed
from modeldiagrams.html.templating import template
from modeldiagrams.render.assets import asset

if TYPE_CHECKING:
    from modeldiagrams.engine.diagram import Diagram

__all__ = ["standalone"]


def standalone(diagram: Diagram) -> str:
    """One self-contained HTML file that works from disk, offline and in a sandboxed frame.

    Args:
        diagram: What to show.

    Returns:
        A whole document with picture, data and viewer inside.

    Raises:
        RenderError: if the viewer has not been built.
    """
    scripts = [data_script(diagram), _viewer()] if is_interactive(diagram) else []
    return template("standalone").render(
        title=diagram.graph.model.name if diagram.graph else diagram.options.call.model,
        css=Markup(asset("model-graph.css").read_text("utf-8")),  # noqa: S704  our own file
        element=element(diagram),
        scripts=[Markup(script) for script in scripts],  # noqa: S704  nothing in them ends a script
    )


@cache
def _viewer() -> str:
    """A script that starts the viewer from its own text."""
    parts = {name: packed(asset(name).read_bytes()) for name in SCRIPTS}
    start = asset("packed.js").read_text("utf-8")
    return f"globalThis.modelDiagramsPacked={msgspec.json.encode(parts).decode()};\n{start}"
