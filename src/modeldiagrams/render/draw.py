"""Graph → SVG: runs the built viewer in an embedded V8, so that a page ships the widget's own first frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

import msgspec

from modeldiagrams.common.decoding import decodable
from modeldiagrams.common.files import file_digest
from modeldiagrams.errors import RenderError
from modeldiagrams.ir.serialize import serialize
from modeldiagrams.options.palette import palette_variables
from modeldiagrams.options.patterns import Unmatched  # noqa: TC001  (msgspec reads the annotation)
from modeldiagrams.options.settings import style_rule
from modeldiagrams.options.steps import Step  # noqa: TC001  (the same)
from modeldiagrams.render.assets import asset
from modeldiagrams.render.js_runtime import call

if TYPE_CHECKING:
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
    "difference_json",
    "fonts",
    "outline_of",
    "render",
    "render_json",
    "viewer_digest",
    "with_style",
]

Drawn = TypeVar("Drawn", "Picture", "StepPicture")

Theme = Literal["light", "dark"]


class Flat(msgspec.Struct, frozen=True, kw_only=True):
    """How a flat picture looks."""

    theme: Theme = "light"
    outlines: bool = True
    """Whether text becomes shapes, which look the same everywhere. Otherwise it stays text in the font Inter, or in
    another sans-serif font. Text with characters that Inter lacks, e.g. Chinese, always stays text."""


class Earlier(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """What a picture of a difference compares with."""

    graph: bytes
    """JSON text."""
    details: bool = False
    """Whether changes of level ``detail`` are marked."""


class Authored(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """What an author says about the nodes of a graph."""

    overlay: bytes | None = None
    """JSON text."""
    steps: tuple[Step, ...] = ()
    """Of a tour; each has a picture of its own, and a flat picture is that of the first."""


Beside: TypeAlias = Earlier | Authored
"""What a picture shows besides its graph."""

_MORE_STYLE = {type(None): (), Earlier: ("difference.css",), Authored: ("author.css",)}


class OutlineRow(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the outline: a module, repeats of one, or several modules that are repeated together."""

    parent: int | None
    """Position of the row that it stands below; None at the top."""
    id: str
    """Of the first module call that it stands for."""
    name: str
    """As the row above knows it: ``layers.0–11``."""
    class_: str = msgspec.field(name="class")
    """Empty for several modules."""
    times: int
    shared: bool = False
    """Whether some of its calls are of one module, and so use the same weights."""
    renamed: str | None = None
    """The name that the picture shows, where its author chose another one."""
    hidden: bool = False
    """Whether its author left it out of the picture."""
    notes: tuple[int, ...] = ()
    """Numbers of its author's notes."""

    @property
    def remark(self) -> str:
        """What its author changed or noted; empty if nothing."""
        words = [
            f"shown as “{self.renamed}”" if self.renamed else "",
            "not in the picture" if self.hidden else "",
            f"note {', '.join(map(str, self.notes))}" if self.notes else "",
        ]
        return ", ".join(filter(None, words))


class StepPicture(msgspec.Struct, frozen=True, kw_only=True):
    """One step of a tour: what the widget shows, and a still picture of it."""

    svg: str
    width: float
    """CSS pixels."""
    height: float
    """CSS pixels."""
    state: dict[str, Any]
    """As `Picture.state`."""
    focus: tuple[str, ...] = ()
    """Ids of the visible nodes that the picture moves to."""
    lit: tuple[str, ...] = ()
    """Ids of the visible nodes that stay bright."""
    lens: str | None = None
    unfound: Unmatched | None = None
    """The first option with patterns that match nothing."""

    def shown(self) -> dict[str, Any]:
        """What the widget needs of it."""
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
    """Each rolled repeat by its ``data-run``: the ids of all that it stands for, repeat by repeat."""
    bundled: dict[str, tuple[str, ...]] = {}
    """Each box such as "… 214 ops" by its id: the ids of all nodes that it stands for, also while it is open."""
    outline: tuple[OutlineRow, ...] = ()
    """All modules, level by level, with repeats grouped as in the picture."""
    steps: tuple[StepPicture, ...] = ()


def render(
    graph: Graph, view: View, *, standalone: bool = False, flat: Flat | None = None, beside: Beside | None = None
) -> Picture:
    """Draw a graph.

    Args:
        graph: What to draw.
        view: What is expanded, and in which direction it runs.
        standalone: Whether the SVG is to carry its own style sheet, as an SVG file for browsers needs it.
        flat: Set for programs that are no browser: every shape then has plain colours.
        beside: What the picture shows besides the graph.

    Returns:
        The picture.

    Raises:
        RenderError: if the graph could not be drawn, or the viewer was not built.
    """
    picture = render_json(serialize(graph), view, flat, beside=beside)
    return with_style(picture, view, beside) if standalone else picture


def render_json(
    graph: bytes,
    view: View,
    flat: Flat | None = None,
    state: dict[str, Any] | None = None,
    beside: Beside | None = None,
) -> Picture:
    """Like `render`, from a graph's JSON text.

    Args:
        graph: What to draw.
        view: What is expanded, and in which direction it runs.
        flat: Set for programs that are no browser.
        state: What a reader made of it (`Picture.state`), instead of `view`.
        beside: Set to draw what changed since an earlier graph, or what an author says about nodes.
    """
    viewer = asset("static.js")
    if flat is not None:
        _load_fonts(viewer)
    answer = call(viewer, "render", graph.decode(), _request(view, flat, state, beside))
    try:
        return msgspec.json.decode(answer, type=decodable(Picture))
    except msgspec.DecodeError as error:
        raise RenderError(f"expected a picture from the viewer, got something else: {error}") from error


def outline_of(graph: Graph) -> tuple[OutlineRow, ...]:
    """The outline of a graph that is not drawn.

    Raises:
        RenderError: if the viewer fails, or was not built.
    """
    return msgspec.json.decode(
        call(asset("static.js"), "outline", serialize(graph).decode()), type=decodable(tuple[OutlineRow, ...])
    )


def difference_json(before: bytes, after: bytes) -> str:
    """What changed between two graphs: JSON text → JSON text.

    Raises:
        RenderError: if the viewer fails, or was not built.
    """
    return call(asset("static.js"), "difference", before.decode(), after.decode())


def _request(view: View, flat: Flat | None, state: dict[str, Any] | None, beside: Beside | None) -> str:
    """Patterns as pairs: the last that matches counts, and in an object JavaScript puts keys like ``0`` first."""
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
    return msgspec.json.encode({"view": plain, "flat": flat, "state": state, **more}).decode()


def _load_fonts(viewer: Path) -> None:
    if call(viewer, "hasFonts") == str(False):
        # a character for each byte
        call(viewer, "useFonts", *(path.read_bytes().decode("latin-1") for path in fonts()))


def fonts() -> tuple[Path, ...]:
    """The font of flat pictures: regular and semibold."""
    return asset("inter-regular.ttf"), asset("inter-semibold.ttf")


def with_style(picture: Drawn, view: View, beside: Beside | None = None) -> Drawn:
    """The picture with the style sheet inside its SVG; that of a difference, an overlay or a lens has more."""
    style = "".join(asset(name).read_text("utf-8") for name in _sheets(picture, beside))
    style += style_rule(palette_variables(view.palette), ".mg-svg:root")
    # CDATA: the style's `>` and `&` are XML otherwise
    opening, rest = picture.svg.split(">", 1)
    return msgspec.structs.replace(picture, svg=f"{opening}><style><![CDATA[{style}]]></style>{rest}")


def _sheets(picture: Picture | StepPicture, beside: Beside | None) -> tuple[str, ...]:
    """The style sheets of a picture."""
    of_lens = ("lens.css",) if isinstance(picture, StepPicture) and picture.lens else ()
    return ("picture.css", *_MORE_STYLE[type(beside)], *of_lens)


def viewer_digest() -> str:
    """Hash of the code that draws: pictures of equal graphs, views and viewers are equal."""
    return file_digest(asset("static.js"))
