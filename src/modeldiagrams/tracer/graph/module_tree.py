"""The module tree of a model that was not called: no ops, no edges."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modeldiagrams.ir import graph as ir
from modeldiagrams.tracer.graph.build_graph import class_of, provenance, qualified_name
from modeldiagrams.tracer.graph.extra_repr import attributes
from modeldiagrams.tracer.torch_facts.private_api import modules_of
from modeldiagrams.tracer.values.named_tensors import NamedTensors
from modeldiagrams.tracer.values.source_lines import class_source

if TYPE_CHECKING:
    from torch import nn

__all__ = ["module_tree"]


def module_tree(model: nn.Module, notes: tuple[str, ...]) -> ir.Graph:
    """A graph of the modules in the order of their registration, as if each were called once.

    Args:
        model: Any module.
        notes: Sentences for the reader that say why there is no data flow.

    Returns:
        A graph of state ``hierarchy``.
    """
    weights = NamedTensors()
    weights.add_modules(modules_of(model), "")
    modules = [(path, module) for path, module in model.named_modules() if path]
    class_ = class_of(model)
    known = {path for path, _ in modules}
    return ir.Graph(
        model=ir.ModelInfo(
            name=class_.__qualname__,
            class_=qualified_name(class_),
            parameters=weights.count(model),
            attributes=attributes(model),
            source=class_source(class_),
        ),
        nodes=tuple(_node(path, module, weights) for path, module in modules),
        adjacency={},
        hierarchy={path: _parent(path, known) for path, _ in modules},
        tensors={},
        parameters=weights.specs(),
        status=ir.Status(state="hierarchy", notes=notes),
        provenance=provenance(),
    )


def _node(path: str, module: nn.Module, weights: NamedTensors) -> ir.ModuleNode:
    class_ = class_of(module)
    return ir.ModuleNode(
        id=path,
        path=path,
        class_=qualified_name(class_),
        parameters=weights.count(module),
        attributes=attributes(module),
        source=class_source(class_),
    )


def _parent(path: str, known: set[str]) -> str | None:
    """Path of the nearest module around it; names may contain dots."""
    parent = path.rpartition(".")[0]
    while parent and parent not in known:
        parent = parent.rpartition(".")[0]
    return parent or None
