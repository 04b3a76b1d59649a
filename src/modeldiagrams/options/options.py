"""Everything an author can say about a diagram: one declaration for all hosts, the command line and Python.

Authors write options flat; inside they are a struct for each consumer: the worker takes `Call` and `Limits`, the viewer
`View`, overlays `Author`, the hosts `Figure`, comparisons `Compare`, and tours `Tour`. Whatever needs the names, the
documentation or the order of options derives them from these structs, so a new option is one new field here.

Long because it is a list of declarations, each with its documentation.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, TypeGuard

import msgspec
from msgspec import Meta

from modeldiagrams.ir.kinds import Kind  # noqa: TC001  (msgspec reads the annotation)
from modeldiagrams.options.palette import read_palette
from modeldiagrams.options.reading import (
    read_directions,
    read_embedded,
    read_lists,
    read_map,
    read_page,
    read_patterns,
    read_shapes,
    read_versions,
    read_vocabulary,
)
from modeldiagrams.options.steps import LONGEST_TOUR, Step, read_steps

__all__ = [
    "PER_DIAGRAM",
    "READ",
    "Author",
    "Call",
    "Compare",
    "Figure",
    "Limits",
    "Options",
    "Tour",
    "View",
    "is_function",
    "is_graph_file",
    "package_of",
]

_TIMEOUT = 60.0
_MEMORY = 4.0
_MAXIMUM = 10.0**6
"""Upper bound of timeout (s) and memory (GB) that the interfaces of all operating systems accept."""

_Length = Annotated[str, Meta(pattern=r"^\d+(\.\d+)?(px|em|rem|ch|vw|vh|%)?$", title="a CSS length")]
_Name = Annotated[str, Meta(pattern=r"^[^\s#]+$", title="a name without spaces and #")]
_Depth = Annotated[int, Meta(ge=0, le=1000)]
_Levels = Annotated[int, Meta(ge=1, le=1000)]
_Positive = Annotated[float, Meta(gt=0)]
_OneOrTwo = Annotated[list[str], Meta(min_length=1, max_length=2, title="one file or two")]
_Direction = Literal["TB", "LR"]
_Device = Annotated[str, Meta(pattern=r"^(cpu|(cuda|xpu|mps|hip)(:\d+)?)$", title="cpu, cuda, xpu, mps or hip")]

READ = "read"
"""Key in `Meta.extra`: function from a value as written to plain data, for options with a notation of their own."""
PER_DIAGRAM = {"per_diagram": True}
"""`Meta.extra` of options for which a site can't set a default."""


class _Group(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Options that one consumer needs."""


class Call(_Group, frozen=True, kw_only=True):
    """The model and what it is called with."""

    model: Annotated[
        str,
        Meta(
            min_length=1,
            description="The model: dotted path (`mypkg.Model`) or `pkg.mod:attr` of a class, a factory function or an"
            " instance; or a graph file that ends in `.json`.",
            extra=PER_DIAGRAM,
        ),
    ]
    args: Annotated[
        list[Any] | None, Meta(description="Positional arguments of the constructor, a list: `[64, 10]`.")
    ] = None
    kwargs: Annotated[
        dict[str, Any] | None, Meta(description="Keyword arguments of the constructor: `{depth: 4}`.")
    ] = None
    config: Annotated[
        dict[str, Any] | None,
        Meta(
            description="Values for the model's configuration object, for classes with a Hugging Face `config_class` or"
            " with one required parameter that is a configuration: `{num_hidden_layers: 2}`."
        ),
    ] = None
    inputs: Annotated[
        list[Any] | dict[str | int, Any] | None,
        Meta(
            description="Example inputs. A flat list of integers is the shape of one float tensor, `[1, 3, 224, 224]`;"
            " a list of lists or maps is positional, `[[1, 16, 64], [1, 16]]`; a map is by name, `{x: [1, 4]}`, or by"
            " position and name, `{0: [1, 4], mask: [4]}`. An entry is a shape, `{shape: [1, 16], dtype: int64, high:"
            " 30522}`, or `{value: 3}` for a plain value."
        ),
    ] = None
    inputs_from: Annotated[
        str | None,
        Meta(description="Dotted path of a function that returns the inputs: a tensor, a tuple, or a dict by name."),
    ] = None
    vocabulary: Annotated[
        dict[Literal["arguments", "inputs"], dict[str, Any]] | None,
        Meta(
            description="What names mean in this project, for arguments and inputs that are left out: `{arguments:"
            " {n_words: 5000, 'd_.*': 64}, inputs: {tokens: {shape: [1, 16], dtype: int64, high: 5000}}}`. A name is a"
            " regular expression for a whole name in lower case. These come before the names that are known anyway; a"
            " site sets them for all its diagrams with `defaults`.",
            extra={READ: read_vocabulary},
        ),
    ] = None


class View(_Group, frozen=True, kw_only=True, omit_defaults=False):
    """How the graph is shown at first; None leaves the choice to the viewer."""

    depth: Annotated[
        _Depth | None,
        Meta(
            description="Number of module levels that are expanded at first; by default as many as stay readable."
            " Modules that `expand` selects are expanded, too."
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
            " default; `false` shows the ops. A function with fewer than three visible ops never is a box."
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
            " with `defaults`; they hold in pages and in picture files. Boxes are tints of them, on which text needs a"
            " contrast of 4.5. Kinds are those of `kind`.",
            extra={READ: read_palette},
        ),
    ] = None
    edge_width: Annotated[
        Literal["bytes"] | None,
        Meta(
            description="Width of edges: `bytes` makes them thicker the more their tensors hold, in four steps. By"
            " default all are alike."
        ),
    ] = None
    shapes: Annotated[
        list[Literal["columns", "u", "streams", "fans", "dense"]] | Literal["none"] | None,
        Meta(
            description="Structures that have a layout of their own, by default all that the graph has: `columns` puts"
            " an encoder and its decoder, or towers that meet late, beside each other; `u` draws nested skips as in a"
            " U-Net, down on the left and up on the right; `streams` keeps parallel streams in their places, as in"
            " HRNet; `fans` centres what parts and what joins three branches or more; `dense` leads the arcs of dense"
            " blocks at one side. `none` draws every model in one flow without any of them.",
            extra={READ: read_shapes},
        ),
    ] = None


_PATTERNS = "Patterns are those of `expand`, and of ops and inputs their names: `softmax`, `input:mask`."


class Author(_Group, frozen=True, kw_only=True):
    """What an author says about nodes beyond what was traced; `modeldiagrams.overlay` finds the nodes."""

    rename: Annotated[
        dict[str, str] | None,
        Meta(
            description="Other names in the picture, by pattern: `{'*.self_attn': Multi-head attention}`. Details and"
            f" outline tell the real ones. {_PATTERNS}",
            extra={**PER_DIAGRAM, READ: read_map},
        ),
    ] = None
    hide: Annotated[
        list[str] | None,
        Meta(
            description="Patterns of nodes that the picture leaves out, with all that is inside: `[Dropout,"
            " input:mask]`. What they connect stays connected, the outline tells them, and readers see them together"
            " with reshapes and casts.",
            extra={**PER_DIAGRAM, READ: read_patterns},
        ),
    ] = None
    group: Annotated[
        dict[str, list[str]] | None,
        Meta(
            description="Siblings under one name, as a container that opens and closes: `{Feed forward: ['*.linear1',"
            " '*.linear2', relu]}`. There is one in each container with matches, and for each"
            " stretch that no way leaves and enters again. The name of another group stands for"
            " all that is in it.",
            extra={**PER_DIAGRAM, READ: read_lists},
        ),
    ] = None
    highlight: Annotated[
        list[str] | None,
        Meta(description="Patterns of nodes to stress.", extra={**PER_DIAGRAM, READ: read_patterns}),
    ] = None
    fade: Annotated[
        list[str] | None,
        Meta(description="Patterns of nodes that step back.", extra={**PER_DIAGRAM, READ: read_patterns}),
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
            description="The order of what is directly in a container, beside each other from left to right:"
            " `{attention: [query, key, value]}`. The model's class stands for the whole.",
            extra={**PER_DIAGRAM, READ: read_lists},
        ),
    ] = None
    arrange: Annotated[
        dict[str, Literal["row", "column", "grid"]] | None,
        Meta(
            description="How what is directly in a container stands, by pattern: `row`, `column` or `grid`:"
            " `{'*.experts': grid}`. The model's class stands for the whole.",
            extra={**PER_DIAGRAM, READ: read_map},
        ),
    ] = None
    align_items: Annotated[
        dict[str, Literal["start", "center", "end"]] | None,
        Meta(
            description="Which edges of what is directly in a container are in line, by pattern,"
            " `{'*.experts': start}`: of what stands beside each other, the tops (`start`), middles (`center`) or"
            " bottoms (`end`); of what an arrangement puts below each other, the left edges, middles or right edges."
            " The model's class stands for the whole.",
            extra={**PER_DIAGRAM, READ: read_map},
        ),
    ] = None
    notes: Annotated[
        dict[str, str] | None,
        Meta(
            description="Notes by pattern, in the markup of the page: `{'*.self_attn': See *Vaswani et al.*}`. The"
            " picture has their numbers at the nodes, and the notes stand below it.",
            extra={**PER_DIAGRAM, READ: read_map},
        ),
    ] = None
    embed: Annotated[
        dict[str, dict[Literal["image", "alt"], str]] | None,
        Meta(
            description="Images in the boxes of nodes, by pattern: PNG, JPEG or SVG files, relative to the page as in"
            " links, with a text for readers who do not see them: `{stem: {image: filters.png, alt: Sixteen edge"
            " filters}}`, or just `{stem: filters.png}`. Readers see them in full size.",
            extra={**PER_DIAGRAM, READ: read_embedded},
        ),
    ] = None


class Limits(_Group, frozen=True, kw_only=True):
    """Where the model runs, and what it may take. A site can set each of them for all of its diagrams."""

    timeout: Annotated[
        _Positive | None,
        Meta(
            description=f"Time limit in seconds for importing, building and running the model together, {_TIMEOUT:g}"
            f" by default."
        ),
    ] = None
    memory: Annotated[
        _Positive | None,
        Meta(description=f"Memory limit in gigabytes, {_MEMORY:g} by default, without the memory of PyTorch itself."),
    ] = None
    device: Annotated[
        _Device | None,
        Meta(description="Device to run on, such as `cuda`; by default the CPU, and the model sees no GPU."),
    ] = None
    python: Annotated[
        str | None,
        Meta(
            description="Python interpreter that runs the model, `../.venv/bin/python`. Its environment needs PyTorch"
            " and the same version of modeldiagrams. By default it is the interpreter that builds the documentation."
        ),
    ] = None

    @property
    def seconds(self) -> float:
        """The timeout, or its default."""
        return min(self.timeout or _TIMEOUT, _MAXIMUM)

    @property
    def gigabytes(self) -> float:
        """The memory, or its default."""
        return min(self.memory or _MEMORY, _MAXIMUM)

    @property
    def uses_gpu(self) -> bool:
        """Whether the model may see a GPU."""
        return self.device not in {None, "cpu"}


class Figure(_Group, frozen=True, kw_only=True):
    """The diagram on its page."""

    caption: Annotated[str | None, Meta(description="Text below the diagram.", extra=PER_DIAGRAM)] = None
    name: Annotated[
        _Name | None, Meta(description="Name for references to the diagram; also its anchor.", extra=PER_DIAGRAM)
    ] = None
    alt: Annotated[
        str | None,
        Meta(
            description="Text for readers who do not see the picture; by default made from the graph.",
            extra=PER_DIAGRAM,
        ),
    ] = None
    align: Annotated[
        Literal["left", "center", "right"] | None,
        Meta(description="Position of the figure on the page; for what is in a container there is `align_items`."),
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
            description="Versions of the documentation with which readers can compare the diagram, where the theme"
            " does not name them: the address of mike's `versions.json` or of a `switcher.json`, relative to the site's"
            " root, `../versions.json`; or the address of each version, `{'1.1': ../1.1/}`. Other hosts have to allow"
            " it (CORS).",
            extra={READ: read_versions},
        ),
    ] = None
    recording: Annotated[
        _OneOrTwo | None,
        Meta(
            description="What a training of the model recorded, a file that `modeldiagrams.watch` wrote: `run.mdwatch`."
            " Readers see it on the diagram, step by step. Of two files, `[first.mdwatch, second.mdwatch]`, they see"
            " both side by side.",
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
        Meta(description="Don't make this diagram a target of references; for a second diagram of the same model."),
    ] = msgspec.field(default=False, name="no-index")
    nowarn: Annotated[
        bool,
        Meta(description="Show problems of the model on the page only, without a warning."),
    ] = False


class Compare(_Group, frozen=True, kw_only=True):
    """The versions of the model that `model-diff` compares; other diagrams have none of these options."""

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
        Meta(description="The later version, in the same forms; by default the model as it is now.", extra=PER_DIAGRAM),
    ] = None
    details: Annotated[bool, Meta(description="Also show changes that have no effect on results.")] = False


class Tour(_Group, frozen=True, kw_only=True):
    """What the picture of a `model-tour` shows step by step; other diagrams have no steps."""

    steps: Annotated[
        Annotated[list[Step], Meta(max_length=LONGEST_TOUR)] | None,
        Meta(
            description="The steps, in order. Authors write them inside the tour, with their prose.",
            extra={READ: read_steps, **PER_DIAGRAM},
        ),
    ] = None


class Options(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Everything an author says about one diagram."""

    call: Call
    view: View = View()
    author: Author = Author()
    limits: Limits = Limits()
    figure: Figure = Figure()
    compare: Compare = Compare()
    tour: Tour = Tour()

    def called(self, name: str | None) -> Options:
        """The same with another name of the model; unchanged for None."""
        return msgspec.structs.replace(self, call=msgspec.structs.replace(self.call, model=name)) if name else self


def package_of(path: str) -> str:
    """The outermost package in ``pkg.mod.Class`` or ``pkg.mod:attr``."""
    return path.partition(":")[0].partition(".")[0]


def is_function(name: str) -> bool:
    """Whether an image of the option `embed` is made by a function, ``pkg.mod:attr``; else it is a file."""
    return re.fullmatch(r"[^\W\d]\w*(\.\w+)*:[^\W\d][\w.]*", name) is not None


def is_graph_file(model: object) -> TypeGuard[str]:
    """Whether the option `model` names a graph file."""
    return isinstance(model, str) and model.endswith(".json")
