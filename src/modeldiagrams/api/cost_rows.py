"""Lists the modules of a graph with their costs at all sizes, equal ones in one row."""

from __future__ import annotations

from collections import defaultdict
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from modeldiagrams.ir.expressions import Expression
from modeldiagrams.ir.graph import ModuleNode
from modeldiagrams.ir.queries import short_name
from modeldiagrams.render.draw import build_outline

if TYPE_CHECKING:
    from modeldiagrams.ir.graph import Graph
    from modeldiagrams.ir.nodes import Node
    from modeldiagrams.ir.size_costs import SizeCosts
    from modeldiagrams.render.draw import OutlineRow

__all__ = ["CostRow", "list_cost_rows"]


class CostRow(NamedTuple):
    """The model, a module, or equal modules.

    Attributes:
        level: 0 is the model.
        name: The name relative to the row above: ``layers.0–11``.
        path: The path from the model; empty for the model.
        calls: How many calls the row represents.
        class_: The short class name; empty for modules that are repeated together, which are the rows below.
        item: Id of the first call; None is the model.
        output: Id of the tensor that it returns first; empty if there is none.
        parameters: How many parameters all of them have.
        rounds: Of modules that a loop calls together: how many rounds it makes at other sizes.
    """

    level: int
    name: str
    path: str
    calls: Expression
    class_: str = ""
    item: str | None = None
    output: str = ""
    parameters: int = 0
    rounds: Expression | None = None


def list_cost_rows(graph: Graph, costs: SizeCosts, depth: int) -> list[CostRow]:
    """List the model and its modules, down to a level, in execution order.

    Raises:
        RenderError: if the viewer, which groups equal modules, fails or was not built.
    """
    model = graph.model
    output, parameters = _describe(model)
    row = CostRow(0, model.name, "", Expression.constant(1), short_name(model.class_), None, output, parameters)
    # keys sort rows, which come level by level, in execution order
    found: list[tuple[tuple[int, ...], CostRow, int]] = [((), row, 1)]
    for i, shown in enumerate(build_outline(_sign_by_expressions(graph))):
        key, around, sets = found[0 if shown.parent is None else shown.parent + 1]
        sets *= shown.sets
        found.append(((*key, i), _build_row(graph, costs, shown, around, sets), sets))
    return [row for _, row, _ in sorted(found, key=itemgetter(0)) if row.level <= depth]


def _build_row(graph: Graph, costs: SizeCosts, shown: OutlineRow, parent: CostRow, sets: int) -> CostRow:
    level, calls = parent.level + 1, parent.calls * shown.times
    if not shown.class_:
        return CostRow(level, shown.name, parent.path, calls, rounds=calls * costs.calls(shown.id))
    call: Any = graph.functions.get(shown.id) or graph.by_id[shown.id]
    output, parameters = _describe(call)
    return CostRow(
        level,
        shown.name,
        path=f"{parent.path}.{shown.name}".removeprefix("."),
        calls=calls * costs.calls(shown.id),
        class_=short_name(shown.class_),
        item=shown.id,
        output=output,
        parameters=parameters * sets,
    )


def _describe(call: Any) -> tuple[str, int]:
    """The first output and the number of parameters of the model or a module call; function calls have neither."""
    return (next(iter(call.outputs.values()), ""), call.parameters.total) if hasattr(call, "outputs") else ("", 0)


def _sign_by_expressions(graph: Graph) -> Graph:
    """Give calls whose shapes or costs differ at some sizes other signatures, so that no row has both."""
    named = graph.sizes
    if named is None:
        return graph
    numbers: dict[Any, int] = {}
    inside: dict[str | None, list[int]] = defaultdict(list)

    def sign(call: Any) -> int:
        outputs = getattr(call, "outputs", ())
        ids = (call.id, *(outputs.values() if isinstance(outputs, dict) else outputs))
        texts = (named.flops, named.activation_bytes, named.times, named.tensors, named.unknown)
        found = tuple(text.get(one) for text in texts for one in ids)
        return numbers.setdefault((getattr(call, "signature", ""), found, *sorted(inside[call.id])), len(numbers))

    nodes: list[Node] = []
    for node in reversed(graph.nodes):  # from the inside to the outside
        number = sign(node)
        for around in (*(call.id for call in graph.functions_around(node)), graph.hierarchy[node.id]):
            inside[around].append(number)
        is_module = isinstance(node, ModuleNode) and node.signature
        nodes.append(msgspec.structs.replace(node, signature=str(number)) if is_module else node)
    functions = {
        name: msgspec.structs.replace(call, signature=call.signature and str(sign(call)))
        for name, call in graph.functions.items()
    }
    return msgspec.structs.replace(graph, nodes=tuple(reversed(nodes)), functions=functions)
