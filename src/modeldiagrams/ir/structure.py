"""Compares graphs by structure, which doesn't depend on where, when and with which versions a model was traced."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from modeldiagrams.common.files import digest
from modeldiagrams.ir.text import escape_surrogates

if TYPE_CHECKING:
    from modeldiagrams.ir.graph import Case, Graph

__all__ = ["holds_less", "structural_digest"]

_STATES = ("hierarchy", "partial", "complete")
"""From the graph that holds least to the one that holds most."""

_NO_STRUCTURE = {"source", "call_site", "signature", "flops", "activation_bytes", "time_ns"}
"""Keys that depend on source lines, on our release, or differ from run to run."""


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
    """Whether a graph has less of its model than another one: modules alone, or a pass or case that ended early."""
    failed = {case.name for case in new.cases if case.status.state != "complete"}
    has_lost_case = any(case.name in failed and case.status.state == "complete" for case in old.cases)
    return has_lost_case or _STATES.index(new.status.state) < _STATES.index(old.status.state)


def _structure(graph: Graph) -> dict[str, Any]:
    content = msgspec.to_builtins(graph)
    error = graph.status.error
    # what counts is also in arguments of ops and in weights; releases of PyTorch add to the `extra_repr` of its modules
    ignored = _NO_STRUCTURE if graph.status.state == "hierarchy" else _NO_STRUCTURE | {"attributes"}
    cases = [[case.name, case.status.state, _digest_case(graph, case)] for case in graph.cases]
    return {
        **({"cases": cases} if cases else {}),
        "model": _without(content["model"], ignored),
        "nodes": [_without(node, ignored) for node in content["nodes"]],
        # left out where there are none, as in the digests of earlier versions of the format
        **({"functions": _calls(content, ignored)} if graph.functions else {}),
        **{name: content[name] for name in ("adjacency", "hierarchy", "tensors")},
        # graphs of earlier versions don't say what is saved
        "parameters": {name: _without(spec, {"persistent"}) for name, spec in content["parameters"].items()},
        "status": [graph.status.state, error and [error.type, error.node]],
    }


def _digest_case(graph: Graph, case: Case) -> str | None:
    return structural_digest(graph.case(case.name)) if case.status.state == "complete" else None


def _calls(content: dict[str, Any], ignored: set[str]) -> dict[str, Any]:
    # graphs of earlier versions don't name arguments
    return {name: _without(call, ignored | {"inputs"}) for name, call in content["functions"].items()}


def _without(content: dict[str, Any], ignored: set[str]) -> dict[str, Any]:
    return {name: value for name, value in content.items() if name not in ignored}
