"""Graph → SVG: runs the built viewer in an embedded V8, so that a page ships the widget's own first frame."""

from __future__ import annotations

import functools
import hashlib
import json
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec

from modeldiagrams.assets import asset
from modeldiagrams.errors import OptionError, RenderError
from modeldiagrams.options import Options, parse_options, read_yaml
from modeldiagrams.serialize import serialize
from modeldiagrams.v8 import evaluate

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from modeldiagrams.graph import Graph

__all__ = ["PAGES", "Picture", "View", "render", "render_json", "view_from", "view_of", "viewer_digest", "with_style"]

PAGES = {"a4": (602.0, 930.0), "letter": (624.0, 864.0)}
"""What margins of an inch leave of a sheet of paper: width and height in CSS pixels."""


_MOST_BREAKDOWNS = 1000
"""A container that breaks the layout engine twice is laid out without it: there are no more than these."""

_LARGEST = 1e9
_Length = Annotated[float, msgspec.Meta(gt=0, le=_LARGEST)]


class View(msgspec.Struct, frozen=True, kw_only=True):
    """How a graph is looked at first; None leaves the choice to the viewer."""

    depth: int | None = None
    expand: list[str] | None = None
    collapse: list[str] | None = None
    direction: Literal["TB", "LR"] | dict[str, Literal["TB", "LR"]] | None = None
    fit: tuple[float, float] | None = None
    """Width and height in CSS pixels of the page it is drawn for: as much is expanded as stays legible there."""


class Picture(msgspec.Struct, frozen=True, kw_only=True):
    """A drawn graph."""

    svg: str
    width: float
    """CSS pixels."""
    height: float
    """CSS pixels."""
    state: dict[str, Any]
    """The expansion the widget starts from, as plain JSON data."""


def view_of(options: Options) -> View:
    """The part of the options that says how the graph is looked at."""
    return View(depth=options.depth, expand=options.expand, collapse=options.collapse, direction=options.direction)


def view_from(keywords: Mapping[str, Any]) -> View:
    """Read the ``**view`` keywords of the Python API.

    Raises:
        OptionError: for a keyword that is not a view option, or a value of another form than it expects.
    """
    for name in keywords:
        if name not in View.__struct_fields__:
            raise OptionError(name, f"unknown here; a view has {', '.join(View.__struct_fields__)}")
    options = {name: value for name, value in keywords.items() if name != "fit"}
    return msgspec.structs.replace(view_of(parse_options({"model": "-", **options})), fit=_page(keywords.get("fit")))


def _page(fit: object) -> tuple[float, float] | None:
    """A page by its name, or by its size in CSS pixels; also as text."""
    if isinstance(fit, str):
        fit = PAGES.get(fit.lower()) or read_yaml(fit)
    try:
        page = msgspec.convert(fit, tuple[_Length, _Length] | None)
    except msgspec.ValidationError as error:
        expected = f"{', '.join(PAGES)} or [width, height] in px"
        raise OptionError("fit", f"expected {expected}, got {fit!r}") from error
    return None if page is None else (float(page[0]), float(page[1]))


def render(graph: Graph, view: View, *, standalone: bool = False) -> Picture:
    """Draw a graph.

    Args:
        graph: What to draw.
        view: What is expanded, and in which direction it runs.
        standalone: Whether the SVG is to carry its own style, as a file of its own needs it.

    Returns:
        The picture.

    Raises:
        RenderError: if the graph could not be drawn, or the viewer was not built.
    """
    picture = render_json(serialize(graph), view)
    return with_style(picture) if standalone else picture


def render_json(graph: bytes, view: View) -> Picture:
    """Like `render`, from a graph's JSON text."""
    # inside a script the JSON text is a string, so it is encoded a second time
    arguments = ", ".join(json.dumps(text) for text in (graph.decode(), _view_json(view)))
    for _ in range(_MOST_BREAKDOWNS):
        answer = evaluate(f"modelDiagrams.render({arguments})", asset("static.js"))
        try:
            picture = msgspec.json.decode(answer, type=Picture | None)
        except msgspec.DecodeError as error:
            raise RenderError(f"expected a picture from the viewer, got something else: {error}") from error
        if picture is not None:
            return picture
    raise RenderError("the layout engine broke down again and again")


def _view_json(view: View) -> str:
    """Patterns as pairs: the last that matches counts, and in an object JavaScript puts keys like ``0`` first."""
    plain = msgspec.structs.asdict(view)
    if isinstance(view.direction, dict):
        plain["direction"] = [*view.direction.items()]
    return msgspec.json.encode(plain).decode()


def with_style(picture: Picture) -> Picture:
    """The picture with the style sheet inside its SVG."""
    style = asset("picture.css").read_text("utf-8")
    # CDATA: the style's `>` and `&` are XML otherwise
    opening, rest = picture.svg.split(">", 1)
    return msgspec.structs.replace(picture, svg=f"{opening}><style><![CDATA[{style}]]></style>{rest}")


def viewer_digest() -> str:
    """Hash of the code that draws: pictures of equal graphs, views and viewers are equal."""
    path = asset("static.js")
    return _file_digest(path, path.stat().st_mtime_ns)


@functools.cache
def _file_digest(path: Path, modified: int) -> str:  # noqa: ARG001  (part of the cache's key)
    return hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()
