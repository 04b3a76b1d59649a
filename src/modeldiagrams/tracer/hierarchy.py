"""The module tree of a model that was not called: no ops, no edges."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modeldiagrams import graph as ir
from modeldiagrams.tracer.attributes import attributes
from modeldiagrams.tracer.finish import class_of, provenance, qualified
from modeldiagrams.tracer.internals import modules_of
from modeldiagrams.tracer.run import Trace
from modeldiagrams.tracer.source import class_source, user_files
from modeldiagrams.tracer.weights import Weights

if TYPE_CHECKING:
    from torch import nn

__all__ = ["hierarchy_run"]


def hierarchy_run(model: nn.Module, notes: tuple[str, ...]) -> Trace:
    """The modules as they were registered, as if each were called once in that order.

    Args:
        model: Any module.
        notes: Plain sentences that say why there is no data flow.

    Returns:
        A graph of state ``hierarchy`` and the user's files that are loaded.
    """
    weights = Weights()
    weights.add_modules(modules_of(model), "")
    modules = [(path, module) for path, module in model.named_modules() if path]
    class_ = class_of(model)
    known = {path for path, _ in modules}
    graph = ir.Graph(
        model=ir.ModelInfo(
            name=class_.__qualname__,
            class_=qualified(class_),
            parameters=weights.count(model),
            attributes=attributes(model),
            source=class_source(class_),
        ),
        nodes=tuple(_node(path, module, weights) for path, module in modules),
        adjacency={},
        hierarchy={path: _holder(path, known) for path, _ in modules},
        tensors={},
        parameters=weights.specs(),
        status=ir.Status(state="hierarchy", notes=notes),
        provenance=provenance(),
    )
    return Trace(graph, user_files(set()))


def _node(path: str, module: nn.Module, weights: Weights) -> ir.ModuleNode:
    class_ = class_of(module)
    return ir.ModuleNode(
        id=path,
        path=path,
        class_=qualified(class_),
        parameters=weights.count(module),
        attributes=attributes(module),
        source=class_source(class_),
    )


def _holder(path: str, known: set[str]) -> str | None:
    """The nearest module around it; a name may contain dots of its own."""
    holder = path.rpartition(".")[0]
    while holder and holder not in known:
        holder = holder.rpartition(".")[0]
    return holder or None
