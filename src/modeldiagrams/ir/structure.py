"""Compares graphs by structure, which doesn't depend on where, when and with which versions a model was traced."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from modeldiagrams.common.amounts import format_count
from modeldiagrams.common.files import digest
from modeldiagrams.ir.graph import InputNode, ModuleNode, OpNode
from modeldiagrams.ir.text import escape_surrogates

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from modeldiagrams.ir.graph import Graph

__all__ = ["describe_changes", "holds_less", "structural_digest"]

_STATES = ("hierarchy", "partial", "complete")
"""From the graph that holds least to the one that holds most."""

_NO_STRUCTURE = {"source", "call_site", "signature", "flops", "activation_bytes", "time_ns"}
"""Keys that depend on source lines, on our release, or differ from run to run."""

_LIMIT = 200
"""Characters of a description."""
_VALUE_LIMIT = 40


def structural_digest(graph: Graph) -> str:
    """Hash a model's structure; 32 hex digits.

    Modules, functions, ops, their arguments, shapes, connections and weights count. Source lines, versions, costs, how
    values were found or computed, and `extra_repr` of modules don't.
    """
    structure = _structure(graph)
    try:
        return digest(msgspec.json.encode(structure, order="sorted"))
    except UnicodeEncodeError:  # names are the model's
        return digest(msgspec.json.encode(escape_surrogates(structure), order="sorted"))


def holds_less(new: Graph, old: Graph) -> bool:
    """Whether a graph has less of its model than another one: modules alone, or a pass that ended early."""
    return _STATES.index(new.status.state) < _STATES.index(old.status.state)


def describe_changes(before: Graph, now: Graph) -> str:
    """Describe the first differences in structure, in about 200 characters; "" if there are none."""
    if structural_digest(before) == structural_digest(now):
        return ""
    text, *others = [_clipped(change) for change in _changes(before, now)] or [_changed_parts(before, now)]
    for change in others:
        if len(text) + len(change) < _LIMIT:
            text = f"{text}; {change}"
    return text


def _structure(graph: Graph) -> dict[str, Any]:
    content = msgspec.to_builtins(graph)
    error = graph.status.error
    # what counts is also in arguments of ops and in weights; releases of PyTorch add to the `extra_repr` of its modules
    ignored = _NO_STRUCTURE if graph.status.state == "hierarchy" else _NO_STRUCTURE | {"attributes"}
    return {
        "model": _without(content["model"], ignored),
        "nodes": [_without(node, ignored) for node in content["nodes"]],
        # left out where there are none, as in the digests of earlier versions of the format
        **({"functions": _calls(content, ignored)} if graph.functions else {}),
        **{name: content[name] for name in ("adjacency", "hierarchy", "tensors")},
        # graphs of earlier versions don't say what is saved
        "parameters": {name: _without(spec, {"persistent"}) for name, spec in content["parameters"].items()},
        "status": [graph.status.state, error and [error.type, error.node]],
    }


def _calls(content: dict[str, Any], ignored: set[str]) -> dict[str, Any]:
    # graphs of earlier versions don't name arguments
    return {name: _without(call, ignored | {"inputs"}) for name, call in content["functions"].items()}


def _without(content: dict[str, Any], ignored: set[str]) -> dict[str, Any]:
    return {name: value for name, value in content.items() if name not in ignored}


def _changes(before: Graph, now: Graph) -> Iterator[str]:
    """Yield the differences that can be named, the most telling first."""
    if before.status.state != now.status.state:
        yield f"the pass is {before.status.state} → {now.status.state}"
    if before.model.class_ != now.model.class_:
        yield f"class {before.model.class_} → {now.model.class_}"
    old_modules, modules = _by_id(before, ModuleNode), _by_id(now, ModuleNode)
    yield from _added_and_removed("module", old_modules, modules)
    yield from _first_change(old_modules | {"model": before.model}, modules | {"model": now.model})
    yield from _changed_count(before.model.parameters.total, now.model.parameters.total)
    old_ops, ops = (_inside_known(graph, old_modules.keys() & modules) for graph in (before, now))
    yield from _added_and_removed("op", old_ops, ops)
    yield from _added_and_removed("function", before.functions, now.functions)
    yield from _first_change(old_ops, ops)
    yield from _changed_inputs(before, now)


def _by_id(graph: Graph, type_: type[Any]) -> dict[str, Any]:
    return {node.id: node for node in graph.nodes if isinstance(node, type_)}


def _inside_known(graph: Graph, modules: Iterable[str]) -> dict[str, Any]:
    """The ops outside added and removed modules."""
    known = {None, *modules}
    return {name: op for name, op in _by_id(graph, OpNode).items() if graph.hierarchy[name] in known}


def _added_and_removed(noun: str, before: dict[str, Any], now: dict[str, Any]) -> Iterator[str]:
    for names, verb in (
        ([name for name in now if name not in before], "added"),
        ([name for name in before if name not in now], "removed"),
    ):
        if names:
            yield f"{len(names)} {noun}{'s'[: len(names) > 1]} {verb}: {names[0]}{' …'[: 2 * (len(names) > 1)]}"


def _first_change(before: dict[str, Any], now: dict[str, Any]) -> Iterator[str]:
    """Yield the first node whose class, name, attributes or arguments differ, and how many more there are."""
    changes = [
        f"{name}: {change}" for name in before if name in now for change in _node_changes(before[name], now[name])[:1]
    ]
    if changes:
        yield changes[0] + (f" (and {len(changes) - 1} more)" if len(changes) > 1 else "")


def _node_changes(before: Any, now: Any) -> list[str]:
    old, new = _facts(before), _facts(now)
    keys = [key for key in {**old, **new} if isinstance(before, OpNode) or (key in old and key in new)]
    return [
        f"{'' if key.isdigit() else key} {_value(old.get(key))} → {_value(new.get(key))}".lstrip()
        for key in keys
        if old.get(key) != new.get(key)
    ]


def _facts(node: Any) -> dict[str, Any]:
    if isinstance(node, OpNode):
        return {"op": node.name, **node.arguments}
    return {"class": node.class_.rpartition(".")[2], **node.attributes}


def _changed_count(before: int, now: int) -> Iterator[str]:
    if before == now:
        return
    old, new = format_count(before), format_count(now)
    yield f"parameters {old} → {new}" if old != new else f"parameters {before} → {now}"


def _changed_inputs(before: Graph, now: Graph) -> Iterator[str]:
    old, new = (
        {node.name: graph.tensors[name] for node in _by_id(graph, InputNode).values() for name in node.outputs}
        for graph in (before, now)
    )
    for name in [*old, *(name for name in new if name not in old)]:
        if name not in new or name not in old:
            yield f"input {name} {'removed' if name in old else 'added'}"
            return
        if old[name].shape != new[name].shape:
            yield f"input {name}: {_value(old[name].shape)} → {_value(new[name].shape)}"
            return


def _changed_parts(before: Graph, now: Graph) -> str:
    """Names of the parts that differ, if no single difference can be named."""
    names = {"adjacency": "connections", "tensors": "tensors' shapes or dtypes", "parameters": "weights"}
    old, new = _structure(before), _structure(now)
    return " and ".join(name for part, name in names.items() if old[part] != new[part]) or "details of the nodes"


def _value(value: Any) -> str:
    if value is None:
        return "–"
    text = "×".join(map(str, value)) if isinstance(value, tuple) else str(value)
    return text if len(text) <= _VALUE_LIMIT else f"{text[:_VALUE_LIMIT]}…"


def _clipped(text: str) -> str:
    return text if len(text) <= _LIMIT else f"{text[: _LIMIT - 1]}…"
