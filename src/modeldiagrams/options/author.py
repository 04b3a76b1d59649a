"""Options with which an author annotates nodes; `modeldiagrams.overlay` finds the nodes."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta

from modeldiagrams.ir.kinds import Kind  # noqa: TC001  (msgspec reads the annotation)
from modeldiagrams.options.declaring import PER_DIAGRAM, READ, OptionGroup
from modeldiagrams.options.reading import read_embedded, read_lists, read_map, read_numbers_option, read_patterns

__all__ = ["Author"]


_PATTERNS = "Patterns are those of `expand`, and names of ops and inputs: `softmax`, `input:mask`."


class Author(OptionGroup, frozen=True, kw_only=True):
    """Annotations of the graph's nodes: names, notes, groups, colours, images."""

    rename: Annotated[
        dict[str, Annotated[str, Meta(min_length=1)]] | None,
        Meta(
            description="Other names in the picture, by pattern: `{'*.self_attn': Multi-head attention}`. Details and"
            f" outline give the real names. {_PATTERNS}",
            extra={**PER_DIAGRAM, READ: read_map},
        ),
    ] = None
    hide: Annotated[
        list[str] | None,
        Meta(
            description="Patterns of nodes that the picture leaves out, with everything inside them: `[Dropout,"
            " input:mask]`. Edges bridge them, the outline lists them, and readers can show them together with reshapes"
            " and casts.",
            extra={**PER_DIAGRAM, READ: read_patterns},
        ),
    ] = None
    group: Annotated[
        dict[str, list[str]] | None,
        Meta(
            description="Siblings to group under one name, in a container that opens and closes: `{Feed forward:"
            " ['*.linear1', '*.linear2', relu]}`. Each container with matches gets its own group, and so does each"
            " stretch of siblings that no path leaves and enters again. The name of another group means all its"
            " members.",
            extra={**PER_DIAGRAM, READ: read_lists},
        ),
    ] = None
    highlight: Annotated[
        list[str] | None,
        Meta(description="Patterns of nodes to highlight.", extra={**PER_DIAGRAM, READ: read_patterns}),
    ] = None
    fade: Annotated[
        list[str] | None,
        Meta(description="Patterns of nodes to fade.", extra={**PER_DIAGRAM, READ: read_patterns}),
    ] = None
    kind: Annotated[
        dict[str, Kind] | None,
        Meta(
            description="Colours by pattern, as kinds of the legend: `{'*.router': attention}`. Kinds are embedding,"
            " attention, linear, convolution, recurrence, normalisation, activation, pooling, loss and other.",
            extra={**PER_DIAGRAM, READ: read_map},
        ),
    ] = None
    order: Annotated[
        dict[str, list[str]] | None,
        Meta(
            description="The order of nodes that are side by side in a container, from left to right:"
            " `{attention: [query, key, value]}`. The model's class means the outermost container.",
            extra={**PER_DIAGRAM, READ: read_lists},
        ),
    ] = None
    arrange: Annotated[
        dict[str, Literal["row", "column", "grid"]] | None,
        Meta(
            description="How the direct children of a container are arranged, by pattern: `row`, `column` or `grid`:"
            " `{'*.experts': grid}`. The model's class means the outermost container.",
            extra={**PER_DIAGRAM, READ: read_map},
        ),
    ] = None
    align_items: Annotated[
        dict[str, Literal["start", "center", "end"]] | None,
        Meta(
            description="How the direct children of a container line up, by pattern, `{'*.experts': start}`: nodes that"
            " are side by side by their tops (`start`), middles (`center`) or bottoms (`end`); nodes that `arrange`"
            " stacks by their left edges, middles or right edges. The model's class means the outermost"
            " container.",
            extra={**PER_DIAGRAM, READ: read_map},
        ),
    ] = None
    notes: Annotated[
        dict[str, str] | None,
        Meta(
            description="Notes by pattern, in the markup of the page: `{'*.self_attn': See *Vaswani et al.*}`. The"
            " picture shows their numbers at the nodes, and the notes follow below it.",
            extra={**PER_DIAGRAM, READ: read_map},
        ),
    ] = None
    embed: Annotated[
        dict[str, dict[Literal["image", "alt"], str]] | None,
        Meta(
            description="Images in the boxes of nodes, by pattern: PNG, JPEG or SVG files, relative to the page as in"
            " links, with a text for readers who can't see them: `{stem: {image: filters.png, alt: Sixteen edge"
            " filters}}`, or just `{stem: filters.png}`. Readers can open it in full size.",
            extra={**PER_DIAGRAM, READ: read_embedded},
        ),
    ] = None
    values: Annotated[
        Annotated[list[str | dict[str, Any]], Meta(title="`sample`, files, or a map from patterns to numbers")] | None,
        Meta(
            description="Numbers of nodes, which readers choose as colours in the menu; the first colour the picture."
            " JSON or CSV files, relative to the page as in links: `errors.json`, `[errors.json, times.csv]`; or"
            " a map by pattern: `{encoder.layers.0: 0.31, '*.norm': 0}`. `sample` runs the model for real and shows"
            " each tensor's mean, spread, range and share of zeros, with pictures of maps.",
            extra={**PER_DIAGRAM, READ: read_numbers_option},
        ),
    ] = None
