"""Takes the graph of one case out of the union of several."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from modeldiagrams.common.decoding import decodable
from modeldiagrams.errors import GraphError
from modeldiagrams.ir.nodes import FunctionCall, ModelInfo, ModuleNode, Node, OutputNode
from modeldiagrams.ir.weights import place_weights

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["made_by", "project_case", "rename", "rename_status", "rename_tensor"]

_Named = TypeVar("_Named", bound=Node | FunctionCall | ModelInfo)
_G = TypeVar("_G")

_TENSORS, _IDS = ("inputs", "outputs"), ("id", "scope", "parent")
"""Fields with ids of tensors, and of nodes and function calls."""


def project_case(graph: _G, name: str) -> _G:
    """Take the graph of one case out of a union, as it is if that case is traced alone.

    Of ways and uncalled modules, it has what the union tells; the page on the format says what is lost.

    Raises:
        GraphError: if the graph has no case of this name, or if that case failed.
    """
    union: Any = graph  # whose type imports this module
    index = _find_case(union, name)
    case = union.cases[index]

    def has_case(item: Any) -> bool:
        return not item.cases or index in item.cases

    present = [node for node in union.nodes if has_case(node)]
    ids: dict[str, str] = case.ids
    tensors = {t: rename_tensor(t, node.id, ids) for node in present if node.id in ids for t in made_by(node)}
    nodes = [_own(node, case, ids, tensors) for node in present]
    functions = _own_functions(union, index, nodes, ids, tensors)
    adjacency = {
        ids.get(node.id, node.id): tuple(
            msgspec.structs.replace(e, to=ids.get(e.to, e.to), tensor=tensors.get(e.tensor, e.tensor), cases=())
            for e in edges
        )
        for node in present
        if (edges := [edge for edge in union.adjacency.get(node.id, ()) if has_case(edge)])
    }
    parents = {ids.get(node.id, node.id): _rename(union.hierarchy[node.id], ids) for node in present}
    placed, hierarchy = place_weights(nodes, parents, functions, adjacency)
    specs = {tensors.get(t, t): case.tensors.get(t, union.tensors[t]) for node in present for t in made_by(node)}
    projected: _G = msgspec.structs.replace(
        union,
        model=rename(case.model, ids, tensors),
        nodes=placed,
        adjacency={node.id: adjacency[node.id] for node in placed if node.id in adjacency},
        hierarchy=hierarchy,
        tensors={t: specs[t] for node in placed for t in made_by(node)},
        parameters={
            weight: spec
            for weight, shared in union.parameters.items()
            if (spec := case.parameters.get(weight, shared)) is not None
        },
        functions=functions,
        status=rename_status(case.status, ids, tensors),
        assumptions=(*union.assumptions, *case.assumptions),
        ways=tuple(_way_of(way, index) for way in union.ways),
        cases=(),
    )
    return projected


def _find_case(union: Any, name: str) -> int:
    names = [case.name for case in union.cases]
    if name not in names:
        has = f"the cases {', '.join(map(repr, names))}" if names else "one pass and no cases"
        raise GraphError("$.cases", f"no case is called {name!r}; the graph has {has}")
    index = names.index(name)
    case = union.cases[index]
    if case.status.state != "complete":
        error = case.status.error
        raise GraphError(f"$.cases[{index}]", f"{name!r} failed{f': {error.message}' if error else ''}")
    return index


def rename(item: _Named, ids: Mapping[str, str], tensors: Mapping[str, str]) -> _Named:
    """Replace the ids in a node, a function call or the model."""
    changes: dict[str, Any] = {}
    for field in _IDS:
        name = getattr(item, field, None)
        if name is not None and name in ids:
            changes[field] = ids[name]
    for field in _TENSORS:
        names = getattr(item, field, None)
        if isinstance(names, dict):
            changes[field] = {key: tensors.get(name, name) for key, name in names.items()}
        elif names:
            changes[field] = tuple([tensors.get(name, name) for name in names])
    return msgspec.structs.replace(item, **changes) if changes else item


def rename_tensor(tensor: str, node: str, ids: Mapping[str, str]) -> str:
    """Id of a tensor after its node was renamed."""
    is_local = node in ids and tensor.startswith(f"{node}:")
    return f"{ids[node]}{tensor.removeprefix(node)}" if is_local else tensor


def rename_status(status: Any, ids: Mapping[str, str], tensors: Mapping[str, str]) -> Any:
    """Replace the ids in the status of a pass."""
    return msgspec.structs.replace(
        status,
        unseen=tuple(tensors.get(name, name) for name in status.unseen),
        assumed_tensors=tuple(tensors.get(name, name) for name in status.assumed_tensors),
        assumed_flops=tuple(ids.get(name, name) for name in status.assumed_flops),
        guesses=tuple(msgspec.structs.replace(guess, node=_rename(guess.node, ids)) for guess in status.guesses),
    )


def made_by(node: Node) -> tuple[str, ...]:
    """Ids of the tensors that a node makes."""
    return () if isinstance(node, OutputNode | ModuleNode) else node.outputs


def _rename(name: str | None, ids: Mapping[str, str]) -> str | None:
    return None if name is None else ids.get(name, name)


def _own(item: Any, case: Any, ids: Mapping[str, str], tensors: Mapping[str, str]) -> Any:
    """A node or function call as it is in one case."""
    fields = case.fields.get(item.id)
    if fields:
        item = msgspec.convert({**msgspec.to_builtins(item), **fields}, decodable(type(item)))
    return rename(msgspec.structs.replace(item, cases=()) if item.cases else item, ids, tensors)


def _own_functions(
    union: Any, index: int, nodes: list[Any], ids: Mapping[str, str], tensors: Mapping[str, str]
) -> dict[str, FunctionCall]:
    """The function calls that a case shows: those around its nodes."""
    calls = [
        _own(call, union.cases[index], ids, tensors)
        for call in union.functions.values()
        if not call.cases or index in call.cases
    ]
    shown = {getattr(node, "scope", None) for node in nodes}
    for call in reversed(calls):  # inner ones first
        shown |= {call.parent} if call.id in shown else set()
    return {call.id: call for call in calls if call.id in shown}


def _way_of(way: Any, index: int) -> Any:
    """What is known of a way in one case."""
    sides = [
        msgspec.structs.replace(side, taken=side.taken and (not side.cases or index in side.cases), cases=())
        for side in way.sides
    ]
    return msgspec.structs.replace(way, sides=tuple(sides))
