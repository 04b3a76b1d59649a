"""Lists the modules of a graph with their costs as expressions, equal ones in one row."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import msgspec

from modeldiagrams.html.outline import Branch, build_tree
from modeldiagrams.ir.chosen_sizes import own_sizes
from modeldiagrams.ir.expressions import Expression
from modeldiagrams.ir.graph import ModuleNode
from modeldiagrams.ir.queries import short_name
from modeldiagrams.ir.size_costs import CostSum
from modeldiagrams.render.draw import build_outline

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modeldiagrams.ir.graph import Graph
    from modeldiagrams.ir.size_costs import SizeCosts
    from modeldiagrams.render.draw import OutlineRow

__all__ = ["CostRow", "list_cost_rows"]


class CostRow(msgspec.Struct, frozen=True, kw_only=True):
    """The model, a module, or equal modules, with the costs of all calls.

    Attributes:
        level: 0 is the model.
        name: The name relative to the row above: ``layers.0–11``.
        path: The path from the model; empty for the model.
        class_: The short class name; empty for modules that are repeated together, which are the rows below.
        item: Id of the first call; None is the model.
        output: Id of the tensor that it returns first; empty if there is none.
        calls: How many calls the row represents.
        parameters: How many parameters they have.
        flops: Their FLOPs.
        activation_bytes: The bytes of their op outputs.
    """

    level: int = 0
    name: str
    path: str = ""
    class_: str = ""
    item: str | None = None
    output: str = ""
    calls: Expression = Expression.constant(1)
    parameters: int = 0
    flops: CostSum = CostSum()
    activation_bytes: CostSum = CostSum()


def list_cost_rows(graph: Graph, costs: SizeCosts, depth: int) -> list[CostRow]:
    """List the model and its modules, down to a level, in execution order.

    Raises:
        RenderError: if the viewer, which groups equal modules, fails or was not built.
    """
    rows = build_outline(_sign_by_cost(graph, costs))
    return [row for row in _walk(graph, costs, build_tree(rows, len(rows))) if row.level <= depth]


def _walk(graph: Graph, costs: SizeCosts, root: Branch) -> Iterator[CostRow]:
    """Yield rows with a stack instead of recursion, because models nest deeply."""
    todo = [(root, _build_model_row(graph, costs), 1)]
    while todo:
        branch, row, sets = todo.pop()
        yield row
        for child in reversed(branch.children):
            if child.row:
                together = sets * child.row.sets
                todo.append((child, _build_row(graph, costs, child.row, row, together), together))


def _build_model_row(graph: Graph, costs: SizeCosts) -> CostRow:
    model = graph.model
    return CostRow(
        name=model.name,
        class_=short_name(model.class_),
        output=next(iter(model.outputs.values()), ""),
        parameters=model.parameters.total,
        flops=costs.flops[None],
        activation_bytes=costs.activation_bytes[None],
    )


def _build_row(graph: Graph, costs: SizeCosts, shown: OutlineRow, parent: CostRow, sets: int) -> CostRow:
    calls = parent.calls * shown.times
    level = parent.level + 1
    if not shown.class_:
        return CostRow(level=level, name=shown.name, path=parent.path, calls=calls)
    calls *= costs.calls(shown.id)
    own = int(calls.evaluate(own_sizes(graph)))
    call: Any = graph.functions.get(shown.id) or graph.by_id[shown.id]
    return CostRow(
        level=level,
        name=shown.name,
        path=f"{parent.path}.{shown.name}".removeprefix("."),
        class_=short_name(shown.class_),
        item=shown.id,
        output=next(iter(getattr(call, "outputs", {}).values()), ""),
        calls=calls,
        parameters=call.parameters.total * sets if hasattr(call, "parameters") else 0,
        flops=costs.flops[shown.id].times(calls, own),
        activation_bytes=costs.activation_bytes[shown.id].times(calls, own),
    )


def _sign_by_cost(graph: Graph, costs: SizeCosts) -> Graph:
    """Give calls whose costs differ at some sizes other signatures, so that no row has both."""
    numbers: dict[Any, int] = {}
    inside: dict[str | None, list[int]] = defaultdict(list)

    def sign(call: Any) -> Any:
        found = (call.signature, costs.flops[call.id], costs.activation_bytes[call.id], *inside[call.id])
        number = numbers.setdefault(found, len(numbers))
        for around in (*(one.id for one in graph.functions_around(call)), graph.hierarchy.get(call.id)):
            inside[around].append(number)
        return msgspec.structs.replace(call, signature=call.signature and str(number))

    # from the inside to the outside
    nodes = [sign(node) if isinstance(node, ModuleNode) else node for node in reversed(graph.nodes)]
    functions = {name: sign(call) for name, call in graph.functions.items()}
    return msgspec.structs.replace(graph, nodes=tuple(reversed(nodes)), functions=functions)
