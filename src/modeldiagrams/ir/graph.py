"""The intermediate representation: one forward pass as plain frozen data.

A `Graph` has two views of the pass: *adjacency* (which tensor flows from which node to which) and *hierarchy* (the
parent of each node). Ids are readable and local, so a change inside one block never renames another block's nodes:

====================  =============================================  ==========================
what                  id                                             example
====================  =============================================  ==========================
module call           dotted path, ``#n`` from the second call on    ``encoder.layers.0#2``
op                    parent's id, ``/``, short name, ``#n``         ``encoder.layers.0/add#2``
input, output         ``input:`` or ``output:`` and the name         ``input:batch.mask``
parameter, buffer     its kind, ``:``, the dotted name               ``parameter:cls_token``
constant              ``constant:`` and the attribute's dotted name, ``constant:scale``
                      or as an op where it has no name
function call         parent's id, ``/``, name, ``()``, ``#n``       ``encoder.attn/rotate_half()#2``
tensor                producer's id, ``:``, index of the output      ``encoder.layers.0/add#2:0``
====================  =============================================  ==========================

In paths and names of ops and functions, ``%``, ``#``, ``/`` and ``:`` become codes: ``dense/linear`` is
``dense%2Flinear``. If two inputs or weights have the same name, the id of the second ends with ``#2``.

The root module's call has no node: its path is empty, ops directly inside it are ``/add``, and their parent is None.

A graph of several `Case` is their union: what they share is in it once. Ids that would occur twice end with ``~n``.

The types are here, in `nodes` and in `ways`; the methods are in `queries`.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from modeldiagrams.ir.nodes import (
    BufferNode,
    ConstantNode,
    Edge,
    Flow,
    FunctionCall,
    InputNode,
    ModelInfo,
    ModuleNode,
    Node,
    OpNode,
    OutputNode,
    ParameterCount,
    ParameterNode,
    Struct,
    TensorSpec,
)
from modeldiagrams.ir.projection import project_case
from modeldiagrams.ir.queries import Connection, ModuleRow, Queries
from modeldiagrams.ir.samples import Samples, TensorSample
from modeldiagrams.ir.sizes import NamedBy, NamedSizes, Size
from modeldiagrams.ir.ways import Side, UncalledModule, Way

__all__ = [
    "FORMAT",
    "OWN_FAILURE",
    "VERSION",
    "Assumption",
    "BufferNode",
    "Case",
    "Connection",
    "ConstantNode",
    "Edge",
    "Failure",
    "Flow",
    "Frame",
    "FunctionCall",
    "Graph",
    "Guess",
    "InputNode",
    "ModelInfo",
    "ModuleNode",
    "ModuleRow",
    "NamedBy",
    "NamedSizes",
    "Node",
    "OpNode",
    "OutputNode",
    "ParameterCount",
    "ParameterNode",
    "ParameterSpec",
    "Provenance",
    "Samples",
    "Side",
    "Size",
    "Status",
    "TensorSample",
    "TensorSpec",
    "UncalledModule",
    "Way",
]

FORMAT: Literal["modeldiagrams"] = "modeldiagrams"
VERSION = "1.8"
OWN_FAILURE: Literal["modeldiagrams"] = "modeldiagrams"
"""`Failure.type` where the tracer failed and not the model."""


class ParameterSpec(Struct, frozen=True, kw_only=True):
    """A parameter or buffer of the model."""

    shape: tuple[int, ...] | None
    """Sizes; None for lazy parameters that were never initialised."""
    dtype: str
    owner: str
    """Dotted path of its module (empty for the root)."""
    kind: Literal["parameter", "buffer"] = "parameter"
    trainable: bool = True
    """False for frozen parameters and for buffers."""
    persistent: bool = True
    """False for buffers that state dicts leave out. Files of formats before 1.2 don't tell."""
    tied: tuple[str, ...] = ()
    """Other dotted names of the same tensor."""
    elements: int | None = None
    """Number of weights in it, if it holds packed or narrow ones. Files of formats before 1.5 don't tell."""
    nbytes: int | None = None
    """Bytes in memory, if they are not those of shape and dtype. Files of formats before 1.5 don't tell."""


class Frame(Struct, frozen=True, kw_only=True):
    """One line of user code on the way to a failure."""

    file: str
    line: int
    function: str
    code: str = ""


class Failure(Struct, frozen=True, kw_only=True):
    """What the model raised, or where the tracer failed."""

    type: str
    """Class of the exception; ``modeldiagrams`` for a fault of the tracer, which the message asks to report."""
    message: str
    node: str | None = None
    """Id of the op or module call that raised."""
    frames: tuple[Frame, ...] = ()
    """User-code frames, innermost last."""


class Guess(Struct, frozen=True, kw_only=True):
    """A value that the trace assumed because Python asked for a number that was not computed."""

    node: str | None
    """The op that needed it; None if no op did (an f-string)."""
    value: Any
    reason: str


class Status(Struct, frozen=True, kw_only=True):
    """How much of the pass is in the graph."""

    state: Literal["complete", "partial", "hierarchy"]
    """``partial``: the forward raised. ``hierarchy``: module tree only, no pass was run."""
    mode: Literal["real", "fake", "meta"] | None = None
    """How values were computed; None for ``hierarchy``."""
    error: Failure | None = None
    unseen: tuple[str, ...] = ()
    """Ids of tensors of unknown origin."""
    guesses: tuple[Guess, ...] = ()
    assumed_tensors: tuple[str, ...] = ()
    """Ids of tensors whose sizes depend on guesses. Files of formats before 1.5 don't tell."""
    assumed_flops: tuple[str, ...] = ()
    """Ids of ops, module calls and function calls whose FLOPs depend on guesses; if any do, so do the model's."""
    costs_of_input: bool = False
    """Whether costs that depend on guessed sizes are those of a pass with real values, so they hold for this input."""
    notes: tuple[str, ...] = ()
    """Sentences for readers, for instance why real values were used."""


RECORDED = "recorded call"
"""Value of the assumption that a model is called as a test or an example calls it."""
STALE = "stale recording"
"""Value of the assumption that this fails now, and that rules found another call."""


class Assumption(Struct, frozen=True, kw_only=True):
    """A value that the author did not give and inference filled in."""

    subject: str
    """The assumed value's name: ``inputs.input_ids``, ``args.num_classes``, ``rule``."""
    value: str
    reason: str


class Provenance(Struct, frozen=True, kw_only=True):
    """The versions that made the graph; comparisons ignore them."""

    modeldiagrams: str
    torch: str | None = None
    python: str | None = None


class Case(Struct, frozen=True, kw_only=True):
    """One of several passes in a graph: what it has of its own. Its ids are those of the graph, unless `ids` says else.

    `Graph.case` makes the graph of the case alone from it.
    """

    name: str
    text: str = ""
    """What the author wrote for this case, in short, or the answer that was forced."""
    forced: bool = False
    """Whether the pass got another answer than the model's at a branch, to show its other side."""
    model: ModelInfo
    """The model's costs, inputs and outputs in this case."""
    status: Status
    """If it is not ``complete``, the pass failed, and no node is of this case."""
    assumptions: tuple[Assumption, ...] = ()
    ids: dict[str, str] = msgspec.field(default_factory=dict)
    """Id of a node or function call in the graph → its id in the graph of this case alone, where they differ."""
    fields: dict[str, dict[str, Any]] = msgspec.field(default_factory=dict)
    """Id of a node or function call → its fields that have other values in this case."""
    tensors: dict[str, TensorSpec] = msgspec.field(default_factory=dict)
    """Id of a tensor → what it is in this case, where that differs."""
    parameters: dict[str, ParameterSpec | None] = msgspec.field(default_factory=dict)
    """Name of a weight → what it is in this case, where that differs; None if the case's model doesn't have it."""


class Graph(Struct, Queries, frozen=True, kw_only=True, omit_defaults=False, gc=True, dict=True):
    """One forward pass of one model, or several cases of it. See the module's docstring for the ids."""

    format: Literal["modeldiagrams"] = FORMAT
    version: str = VERSION
    model: ModelInfo
    nodes: tuple[Node, ...]
    """In execution order; a module call precedes everything inside it."""
    adjacency: dict[str, tuple[Edge, ...]]
    """Node id → its outgoing edges. Nodes without edges are left out."""
    hierarchy: dict[str, str | None]
    """Node id → id of its parent module call; None directly under the root."""
    tensors: dict[str, TensorSpec]
    parameters: dict[str, ParameterSpec]
    functions: dict[str, FunctionCall] = msgspec.field(default_factory=dict)
    """Groups of ops inside module calls, in execution order; outer groups precede inner ones."""
    status: Status
    assumptions: tuple[Assumption, ...] = ()
    ways: tuple[Way, ...] = ()
    """Places where the model's code leads on in several ways, by file and line. Formats before 1.6 don't tell."""
    uncalled: tuple[UncalledModule, ...] = ()
    """Registered modules that no pass called, in the order of registration. Formats before 1.6 don't tell."""
    cases: tuple[Case, ...] = ()
    """The passes that the graph unites; empty for a graph of one pass. Nodes and edges name the cases they are in."""
    sizes: NamedSizes | None = None
    """Names of sizes, and what depends on them; None if none were sought. Formats before 1.7 don't tell."""
    samples: Samples | None = None
    """What flowed in one pass; None if nobody asked. Comparisons ignore it. Formats before 1.8 don't tell."""
    provenance: Provenance

    def case(self, name: str) -> Graph:
        """The graph of one case alone.

        Args:
            name: The case's name.

        Returns:
            The graph, as the case gives it if it is traced alone, with what this graph tells of `ways` and `uncalled`.

        Raises:
            GraphError: if there is no such case, or if it failed.
        """
        return project_case(self, name)

    def __repr__(self) -> str:
        """Make a short text, which notebooks show."""
        return f"<graph of {self.model.name}: {len(self.nodes)} nodes, {self.status.state}>"
