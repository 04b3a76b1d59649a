"""What the methods of a graph return besides nodes."""

from __future__ import annotations

from typing import TypedDict

from modeldiagrams.ir.nodes import Flow, Struct

Shape = tuple[int | str, ...] | None


class Connection(Struct, frozen=True, kw_only=True):
    """The tensors that flow from one node to another at some depth.

    Attributes:
        source: Id of the node that makes them, or of the closed module call or function call around it.
        target: Id of the node that reads them, or of the closed module call or function call around it.
        tensors: Their ids.
        flow: As in the graph format: ``data``, ``shape`` or ``inferred``.
    """

    source: str
    target: str
    tensors: tuple[str, ...]
    flow: Flow = "data"


class ModuleRow(TypedDict):
    """One module call as a row of a table.

    Attributes:
        id: Of the module call.
        path: Dotted path from the model.
        call: 1 for the first call of this module.
        class_name: Short name, as in diagrams.
        level: 1 directly in the model.
        parameters: Of the module and the modules inside of it.
        own_parameters: Of the module itself: summed over first calls, no parameter counts twice, unless it is tied.
        trainable_parameters: Those of `parameters` that require a gradient.
        flops: Floating point operations of the call; None when not counted.
        activation_bytes: Bytes of all op outputs of the call; None when not counted.
        time_ns: Sum of the times of its ops in nanoseconds; None when not measured.
        inputs: Argument name → shape.
        outputs: Path in the returned value → shape.
    """

    id: str
    path: str
    call: int
    class_name: str
    level: int
    parameters: int
    own_parameters: int
    trainable_parameters: int
    flops: int | None
    activation_bytes: int | None
    time_ns: int | None
    inputs: dict[str, Shape]
    outputs: dict[str, Shape]
