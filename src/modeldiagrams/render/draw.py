"""Draws a graph as SVG with the built viewer in an embedded V8, so that pages contain the widget's first frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

import msgspec

from modeldiagrams.common.decoding import decodable
from modeldiagrams.common.files import digest_file
from modeldiagrams.errors import RenderError
from modeldiagrams.ir.serialize import serialize
from modeldiagrams.options.palette import list_palette_variables
from modeldiagrams.options.patterns import Unmatched  # noqa: TC001  (msgspec reads the annotation)
from modeldiagrams.options.settings import format_style_rule
from modeldiagrams.options.steps import Step  # noqa: TC001  (the same)
from modeldiagrams.render.assets import find_asset
from modeldiagrams.render.js_runtime import call

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from modeldiagrams.ir.graph import Graph
    from modeldiagrams.options.options import View

__all__ = [
    "Authored",
    "Beside",
    "Earlier",
    "Flat",
    "OutlineRow",
    "Picture",
    "StepPicture",
    "Theme",
    "build_difference",
    "build_outline",
    "digest_viewer",
    "draw_card",
    "embed_style",
    "load_fonts",
    "render",
    "render_json",
]

Drawn = TypeVar("Drawn", "Picture", "StepPicture")

Theme = Literal["light", "dark"]


class Flat(msgspec.Struct, frozen=True, kw_only=True):
    """The style of a flat picture."""

    theme: Theme = "light"
    outlines: bool = True
    """Whether text becomes shapes, which look the same everywhere, or stays text in the font Inter or another
    sans-serif font. Text with characters that Inter lacks, for example Chinese, always stays text."""


class Earlier(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The earlier graph in a picture of a difference."""

    graph: bytes
    """JSON text."""
    details: bool = False
    """Whether changes of level ``detail`` are marked."""


class Authored(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """An author's annotations of nodes and steps of a tour."""

    overlay: bytes | None = None
    """JSON text."""
    steps: tuple[Step, ...] = ()
    """The steps of a tour, each with its own picture; a flat picture shows the first."""


Beside: TypeAlias = Earlier | Authored
"""Content of a picture in addition to its graph."""

_MORE_STYLE = {type(None): (), Earlier: ("difference.css",), Authored: ("author.css",)}


class OutlineRow(msgspec.Struct, frozen=True, kw_only=True):
    """A row of the outline: a module, repeats of one, or several modules that are repeated together."""

    parent: int | None
    """The index of the row above it in the hierarchy; None at the top."""
    id: str
    """The id of the first module call that it represents."""
    name: str
    """The name relative to its parent row: ``layers.0–11``."""
    class_: str = msgspec.field(name="class")
    """Empty for several modules."""
    times: int
    shared: bool = False
    """Whether some of its calls share weights, because they are of the same module."""
    sets: int = 1
    """How many modules, or groups of modules that repeat together, its calls are of."""
    renamed: str | None = None
    """The author's name in the picture, if any."""
    hidden: bool = False
    """Whether the author hides it in the picture."""
    notes: tuple[int, ...] = ()
    """The numbers of the author's notes."""
    only: str = ""
    """The cases that it is in, ``only in train``; empty if it is in all."""

    @property
    def remark(self) -> str:
        """Its cases, and the author's changes and notes; empty if there are none."""
        words = [
            self.only,
            f"shown as “{self.renamed}”" if self.renamed else "",
            "not in the picture" if self.hidden else "",
            f"note {', '.join(map(str, self.notes))}" if self.notes else "",
        ]
        return ", ".join(filter(None, words))


class StepPicture(msgspec.Struct, frozen=True, kw_only=True):
    """A step of a tour: the widget's state, and a still picture."""

    svg: str
    width: float
    """CSS pixels."""
    height: float
    """CSS pixels."""
    state: dict[str, Any]
    """As `Picture.state`."""
    focus: tuple[str, ...] = ()
    """The ids of visible nodes that the picture moves to."""
    lit: tuple[str, ...] = ()
    """The ids of visible nodes that stay bright."""
    lens: str | None = None
    unfound: Unmatched | None = None
    """The first option with patterns that match nothing."""

    def shown(self) -> dict[str, Any]:
        """Return the data that the widget needs."""
        return {name: getattr(self, name) for name in ("state", "focus", "lit", "lens")}


class Picture(msgspec.Struct, frozen=True, kw_only=True):
    """A drawn graph."""

    svg: str
    width: float
    """CSS pixels."""
    height: float
    """CSS pixels."""
    state: dict[str, Any]
    """The expansion the widget starts from, as plain JSON data."""
    rolled: dict[str, tuple[str, ...]] = {}
    """The ids that each rolled repeat represents, repeat by repeat, by its ``data-run``."""
    bundled: dict[str, tuple[str, ...]] = {}
    """The ids of nodes that each box such as "… 214 ops" represents, by its id, even while it is open."""
    outline: tuple[OutlineRow, ...] = ()
    """All modules, level by level, with repeats grouped as in the picture."""
    steps: tuple[StepPicture, ...] = ()
    lens: str | None = None
    """The author's numbers that colour it, if any."""


def render(  # noqa: PLR0913  (kinds of pictures)
    graph: Graph,
    view: View,
    *,
    standalone: bool = False,
    flat: Flat | None = None,
    beside: Beside | None = None,
    remarks: Sequence[str] = (),
) -> Picture:
    """Draw a graph.

    Args:
        graph: The graph.
        view: The initial view.
        standalone: Whether the SVG contains its own style sheet, as needed for an SVG file for browsers.
        flat: The style for programs other than browsers: every shape has plain colours.
        beside: Content of the picture in addition to the graph.
        remarks: Sentences under the picture, see `ir.remarks.list_limits`.

    Returns:
        The picture.

    Raises:
        RenderError: if the graph could not be drawn, or the viewer was not built.
    """
    picture = render_json(serialize(graph), view, flat, beside=beside, remarks=remarks)
    return embed_style(picture, view, beside) if standalone else picture


def render_json(  # noqa: PLR0913  (the same)
    graph: bytes,
    view: View,
    flat: Flat | None = None,
    state: dict[str, Any] | None = None,
    *,
    beside: Beside | None = None,
    remarks: Sequence[str] = (),
) -> Picture:
    """Like `render`, from a graph's JSON text.

    Args:
        graph: The graph.
        view: The initial view.
        flat: The style for programs other than browsers.
        state: A reader's state (`Picture.state`), instead of `view`.
        beside: An earlier graph to compare with, or an author's annotations.
        remarks: As in `render`.
    """
    viewer = find_asset("static.js")
    if flat is not None:
        _load_fonts(viewer)
    answer = call(viewer, "render", graph.decode(), _request(view, flat, state, beside, remarks))
    try:
        return msgspec.json.decode(answer, type=decodable(Picture))
    except msgspec.DecodeError as error:
        raise RenderError(f"expected a picture from the viewer, got something else: {error}") from error


def draw_card(graph: bytes) -> str:
    """Draw the small SVG of a graph's JSON text for an ``<img>`` in a list of models.

    Raises:
        RenderError: if the graph could not be drawn, or the viewer was not built.
    """
    return call(find_asset("static.js"), "card", graph.decode())


def build_outline(graph: Graph) -> tuple[OutlineRow, ...]:
    """Return the outline of a graph without drawing it.

    Raises:
        RenderError: if the viewer fails, or was not built.
    """
    return msgspec.json.decode(
        call(find_asset("static.js"), "outline", serialize(graph).decode()), type=decodable(tuple[OutlineRow, ...])
    )


def build_difference(before: bytes, after: bytes) -> str:
    """Find what changed between two graphs, as JSON text.

    Raises:
        RenderError: if the viewer fails, or was not built.
    """
    return call(find_asset("static.js"), "difference", before.decode(), after.decode())


def _request(
    view: View, flat: Flat | None, state: dict[str, Any] | None, beside: Beside | None, remarks: Sequence[str]
) -> str:
    """Encode the request, with patterns as pairs, because JavaScript moves keys like ``0`` to the front of objects."""
    plain = msgspec.structs.asdict(view)
    if isinstance(view.direction, dict):
        plain["direction"] = [*view.direction.items()]
    match beside:
        case Earlier():
            more: dict[str, Any] = {"before": beside.graph.decode(), "details": beside.details}
        case Authored():
            more = {"overlay": msgspec.Raw(beside.overlay or b"null"), "steps": beside.steps}
        case None:
            more = {}
    return msgspec.json.encode({"view": plain, "flat": flat, "state": state, "remarks": remarks, **more}).decode()


def _load_fonts(viewer: Path) -> None:
    if call(viewer, "hasFonts") == str(False):
        # a character for each byte
        call(viewer, "useFonts", *(path.read_bytes().decode("latin-1") for path in load_fonts()))


def load_fonts() -> tuple[Path, ...]:
    """Return the fonts of flat pictures: regular and semibold."""
    return find_asset("inter-regular.ttf"), find_asset("inter-semibold.ttf")


def embed_style(picture: Drawn, view: View, beside: Beside | None = None) -> Drawn:
    """Add the style sheets to a picture's SVG; those of differences, overlays and lenses have more."""
    style = "".join(find_asset(name).read_text("utf-8") for name in _list_sheets(picture, beside))
    style += format_style_rule(list_palette_variables(view.palette), ".mg-svg:root")
    # CDATA, because the style's `>` and `&` would be XML
    opening, rest = picture.svg.split(">", 1)
    return msgspec.structs.replace(picture, svg=f"{opening}><style><![CDATA[{style}]]></style>{rest}")


def _list_sheets(picture: Picture | StepPicture, beside: Beside | None) -> tuple[str, ...]:
    """Return the style sheets of a picture."""
    of_lens = ("lens.css",) if picture.lens else ()
    return ("picture.css", *_MORE_STYLE[type(beside)], *of_lens)


def digest_viewer() -> str:
    """Return a hash of the viewer: equal graphs, views and viewers give equal pictures."""
    return digest_file(find_asset("static.js"))
