"""Options of the initial view of a graph."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from modeldiagrams.ir.kinds import Kind  # noqa: TC001  (msgspec reads the annotation)
from modeldiagrams.options.declaring import READ, OptionGroup
from modeldiagrams.options.palette import read_palette
from modeldiagrams.options.reading import read_directions, read_page, read_patterns, read_shapes

__all__ = ["View"]

_Depth = Annotated[int, Meta(ge=0, le=1000)]
_Direction = Literal["TB", "LR"]


class View(OptionGroup, frozen=True, kw_only=True, omit_defaults=False):
    """The initial view; the viewer chooses the values that are not given."""

    depth: Annotated[
        _Depth | None,
        Meta(
            description="Number of module levels that are expanded at first; by default as many as stay readable."
            " Modules that `expand` selects are expanded too."
        ),
    ] = None
    expand: Annotated[
        list[str] | None,
        Meta(
            description="Patterns of module paths or class names: modules that are expanded at first,"
            " `[encoder.layers.0, '*.attention']`.",
            extra={READ: read_patterns},
        ),
    ] = None
    collapse: Annotated[
        list[str] | None,
        Meta(
            description="Patterns of module paths or class names: modules that stay closed at first, whatever `depth`"
            " and `expand` say, `['*.attention', LayerNorm]`.",
            extra={READ: read_patterns},
        ),
    ] = None
    direction: Annotated[
        _Direction | dict[str, _Direction] | None,
        Meta(
            description="Top to bottom (`TB`, the default) or left to right (`LR`). A map from patterns of module"
            " paths or class names sets the direction inside those modules, `{'*': TB, '*.attention': LR}`: the last"
            " match counts, and `*` includes the model itself.",
            extra={READ: read_directions},
        ),
    ] = None
    functions: Annotated[
        bool | None,
        Meta(
            description="Whether the ops that one Python function ran are one box with the function's name, as by"
            " default; `false` shows the ops. A function with fewer than three visible ops is never a box."
        ),
    ] = None
    layers: Annotated[
        bool | None,
        Meta(
            description="Whether a convolution, its normalisation and its activation are one box, as by default;"
            " `false` shows one box for each."
        ),
    ] = None
    fit: Annotated[
        tuple[float, float] | None,
        Meta(
            description="Page that the picture must fit, `a4`, `letter` or `[width, height]` in px: as much is"
            " expanded as stays legible there.",
            extra={READ: read_page},
        ),
    ] = None
    legend: Annotated[
        bool | None, Meta(description="Whether a legend explains the colours, as by default; `false` leaves it out.")
    ] = None
    palette: Annotated[
        dict[Kind, str] | None,
        Meta(
            description="Colours of kinds, as `'#rrggbb'`: `{linear: '#2266cc'}`. A site sets them for all its diagrams"
            " with `defaults`; they apply to pages and to picture files. Boxes are tints of them, on which text needs a"
            " contrast of 4.5. Kinds are those of `kind`.",
            extra={READ: read_palette},
        ),
    ] = None
    edge_width: Annotated[
        Literal["bytes"] | None,
        Meta(
            description="Width of edges: `bytes` makes them thicker for larger tensors, in four steps. By default"
            " all have the same width."
        ),
    ] = None
    shapes: Annotated[
        list[Literal["columns", "u", "streams", "fans", "dense"]] | Literal["none"] | None,
        Meta(
            description="Structures that get a layout of their own, by default all that the graph has: `columns` puts"
            " an encoder and its decoder, or towers that meet late, side by side; `u` draws nested skips as in a U-Net,"
            " down on the left and up on the right, whatever the direction; `streams` keeps parallel streams in their"
            " places, as in HRNet; `fans` centres the nodes where three or more branches part and join; `dense` draws"
            " the arcs of dense blocks on one side. `none` draws every model in one flow without any of these.",
            extra={READ: read_shapes},
        ),
    ] = None
