"""Options of figures, comparisons and tours."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from modeldiagrams.options.declaring import PER_DIAGRAM, READ, OptionGroup
from modeldiagrams.options.reading import read_patterns, read_versions
from modeldiagrams.options.steps import LONGEST_TOUR, Step, read_steps

__all__ = ["Compare", "Figure", "Tour"]

_Length = Annotated[str, Meta(pattern=r"^\d+(\.\d+)?(px|em|rem|ch|vw|vh|%)?$", title="a CSS length")]
_Name = Annotated[str, Meta(pattern=r"^[^\s#]+$", title="a name without spaces and #")]
_Levels = Annotated[int, Meta(ge=1, le=1000)]
_OneOrTwo = Annotated[list[str], Meta(min_length=1, max_length=2, title="one file or two")]


class Figure(OptionGroup, frozen=True, kw_only=True):
    """The diagram on its page."""

    caption: Annotated[str | None, Meta(description="Text below the diagram.", extra=PER_DIAGRAM)] = None
    name: Annotated[
        _Name | None, Meta(description="Name for references to the diagram; also its anchor.", extra=PER_DIAGRAM)
    ] = None
    alt: Annotated[
        str | None,
        Meta(
            description="Text for readers who can't see the picture; by default generated from the graph.",
            extra=PER_DIAGRAM,
        ),
    ] = None
    align: Annotated[
        Literal["left", "center", "right"] | None,
        Meta(description="Position of the figure on the page; to align nodes in the picture, use `align_items`."),
    ] = None
    width: Annotated[
        _Length | None, Meta(description="Width of the diagram's frame, a CSS length: `100%`, `640px`.")
    ] = None
    height: Annotated[
        _Length | None, Meta(description="Maximum height of the diagram's frame, a CSS length: `480px`.")
    ] = None
    class_: Annotated[str | None, Meta(description="CSS classes for the figure, separated by spaces.")] = msgspec.field(
        default=None, name="class"
    )
    static: Annotated[
        bool, Meta(description="Show only the picture and its outline, without zooming and expanding.")
    ] = False
    versions: Annotated[
        str | dict[str, str] | None,
        Meta(
            description="Versions of the documentation with which readers can compare the diagram, if the theme does"
            " not name them: the address of mike's `versions.json` or of a `switcher.json`, relative to the site's"
            " root, `../versions.json`; or the address of each version, `{'1.1': ../1.1/}`. Other web hosts must allow"
            " access (CORS).",
            extra={READ: read_versions},
        ),
    ] = None
    recording: Annotated[
        _OneOrTwo | None,
        Meta(
            description="A recording of the model's training, a file that `modeldiagrams.watch` wrote: `run.mdwatch`."
            " The diagram shows it step by step, and two recordings, `[first.mdwatch, second.mdwatch]`, side by side.",
            extra={**PER_DIAGRAM, READ: read_patterns},
        ),
    ] = None
    table: Annotated[
        bool | _Levels,
        Meta(
            description="Show a table of the modules below the picture, with shapes, parameters and FLOPs: `true` for"
            " three levels of modules, or the number of levels."
        ),
    ] = False
    no_links: Annotated[bool, Meta(description="Don't link the classes in the diagram to their documentation.")] = (
        msgspec.field(default=False, name="no-links")
    )
    no_index: Annotated[
        bool,
        Meta(description="Don't make this diagram a target of references, for a second diagram of the same model."),
    ] = msgspec.field(default=False, name="no-index")
    nowarn: Annotated[
        bool,
        Meta(description="Show problems of the model on the page only, without a warning."),
    ] = False


class Compare(OptionGroup, frozen=True, kw_only=True):
    """The versions of the model that `model-diff` compares; only for such diagrams."""

    before: Annotated[
        str | None,
        Meta(
            description="The earlier version: a git revision that has the model's snapshot, such"
            " as `v1.2`; the address of a site or of a graph (`https://…`), a graph file, or another model.",
            extra=PER_DIAGRAM,
        ),
    ] = None
    after: Annotated[
        str | None,
        Meta(description="The later version, in the same forms; by default the current model.", extra=PER_DIAGRAM),
    ] = None
    details: Annotated[bool, Meta(description="Also show changes that have no effect on results.")] = False


class Tour(OptionGroup, frozen=True, kw_only=True):
    """The steps of a `model-tour`; only for tours."""

    steps: Annotated[
        Annotated[list[Step], Meta(max_length=LONGEST_TOUR)] | None,
        Meta(
            description="The steps, in order. Write them inside the tour, each with its text.",
            extra={READ: read_steps, **PER_DIAGRAM},
        ),
    ] = None
