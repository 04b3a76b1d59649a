"""Builds the table of modules: the outline with shapes, parameters and costs."""

from __future__ import annotations

import functools
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

import msgspec

from modeldiagrams.common.amounts import add_sign, format_bytes, format_flops, format_time
from modeldiagrams.html.outline import Branch, build_tree
from modeldiagrams.ir.bounds import Bounds, bounds_of
from modeldiagrams.ir.case_texts import list_letters, mark_cases, shown_cases
from modeldiagrams.ir.graph import ModuleNode, OpNode
from modeldiagrams.ir.named_shapes import is_counted, named_shape, say_sizes
from modeldiagrams.ir.parameter_memory import list_weights
from modeldiagrams.ir.queries import short_name
from modeldiagrams.ir.remarks import explain_guesses

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from modeldiagrams.ir.graph import Graph
    from modeldiagrams.render.draw import OutlineRow

__all__ = ["COLUMNS", "DEFAULT_COLUMNS", "LEVELS", "Column", "Summary", "SummaryRow", "summarise"]

Column: TypeAlias = Literal[
    "inputs", "outputs", "parameters", "trainable", "flops", "activations", "time", "calls", "cases"
]

COLUMNS: dict[Column, str] = {
    "inputs": "Input shape",
    "outputs": "Output shape",
    "parameters": "Parameters",
    "trainable": "Trainable",
    "flops": "FLOPs",
    "activations": "Activations",
    "time": "Own time",
    "calls": "Calls",
    "cases": "Cases",
}
"""The titles of columns after name and class."""
DEFAULT_COLUMNS: tuple[Column, ...] = ("outputs", "parameters", "trainable", "flops", "calls")
"""The default columns; measured times are added."""
LEVELS = 3
"""The default number of module levels."""

_ROW_LIMIT = 200
Shape = tuple[int | str, ...] | None


class SummaryRow(msgspec.Struct, frozen=True, kw_only=True):
    """A row of the table: the model, a module, or equal modules, with the numbers of one of them.

    Attributes:
        level: 0 is the model.
        name: The name relative to the row above: ``layers.0–11``; ``… 12 more`` for omitted rows, without numbers.
        path: The path from the model; empty for the model.
        class_: The fully qualified class; empty for modules that are repeated together, which are the rows below.
        calls: The number of equal calls that the row represents.
        shared: Whether some of these calls share weights with another call.
        sets: The number of modules these calls are of, each with weights of its own.
        inputs: Shapes by argument name.
        outputs: Shapes by path in the returned value.
        parameters: The number of parameters, including modules inside.
        trainable: The number of parameters that require a gradient.
        flops: Floating point operations, a multiply-add counts as two; None if not counted.
        activation_bytes: Bytes of all op outputs; None if not counted.
        time_ns: The summed times of the ops of the first call; None if not measured.
        assumed: ``≤`` or ``≈`` for each number that depends on assumed sizes, by its name: ``flops``,
            ``activation_bytes``, ``inputs.x``, ``outputs.output``.
        named: The shape with names of sizes, ``B×T×768``, with its sign, by the same names, if its sizes have any.
        cases: The letters of the cases that the row is in, ``a b``; empty for one that is in all.
        by_case: Name of a case → the row there, if there are several. Its cells are shown side by side if they differ.
    """

    level: int = 0
    name: str
    path: str = ""
    class_: str = ""
    calls: int = 1
    shared: bool = False
    sets: int = 1
    inputs: dict[str, Shape] = {}
    outputs: dict[str, Shape] = {}
    parameters: int | None = None
    trainable: int | None = None
    flops: int | None = None
    activation_bytes: int | None = None
    time_ns: int | None = None
    assumed: dict[str, str] = {}
    named: dict[str, str] = {}
    cases: str = ""
    by_case: dict[str, SummaryRow] = {}

    @property
    def class_name(self) -> str:
        """The short class name, as in diagrams."""
        return short_name(self.class_)


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """A table of modules."""

    model: str
    """The model's name."""
    rows: tuple[SummaryRow, ...]
    """The model, then its modules in execution order."""
    totals: dict[str, str]
    """The totals of the model as texts, by title."""

    @property
    def default_columns(self) -> tuple[Column, ...]:
        """The default columns after name and class."""
        *others, calls = DEFAULT_COLUMNS
        columns: tuple[Column, ...] = DEFAULT_COLUMNS if self.rows[0].time_ns is None else (*others, "time", calls)
        return (*columns, "cases") if any(row.cases for row in self.rows) else columns


def summarise(
    graph: Graph, outline: Sequence[OutlineRow], levels: int = LEVELS, limit: int | None = _ROW_LIMIT
) -> Summary:
    """Build the table of a graph.

    Args:
        graph: The graph.
        outline: Its outline, which groups repeats and comes level by level.
        levels: The number of module levels.
        limit: The maximum number of rows; None for no limit.
    """
    depths: list[int] = []
    for row in outline:
        depths.append(1 if row.parent is None else depths[row.parent] + 1)
    count = sum(depth <= levels for depth in depths)
    rows = _iter_rows(graph, build_tree(outline[:count], limit or count))
    return Summary(model=graph.model.name, rows=tuple(rows), totals=_describe_totals(graph))


def _iter_rows(graph: Graph, root: Branch) -> Iterator[SummaryRow]:
    """Yield the rows of the model, with a stack instead of recursion, because models nest deeply."""
    todo: list[tuple[Branch | str, SummaryRow | None]] = [(root, None)]
    build_row = _make_builder_of_cases(graph)
    while todo:
        branch, parent = todo.pop()
        if isinstance(branch, str):
            yield _place_below(SummaryRow(name=branch), parent)
            continue
        row = _place_below(build_row(branch.row), parent)
        yield row
        if branch.hidden:
            todo.append((f"… {branch.hidden} more", row))
        todo += [(child, row) for child in reversed(branch.children)]


def _make_builder(graph: Graph) -> Callable[[OutlineRow | None], SummaryRow]:
    """Make the function that builds the rows of one pass, or of several as if they were one."""
    costs = _average_costs(graph) if graph.status.costs_of_input else {}
    return functools.partial(_build_row, graph, bounds_of(graph), costs)


def _make_builder_of_cases(graph: Graph) -> Callable[[OutlineRow | None], SummaryRow]:
    """Make the function that builds a row with what it is in each case."""
    build, shown, letters = _make_builder(graph), shown_cases(graph), list_letters(graph)
    if len(shown) < 2:  # noqa: PLR2004
        return build
    builders = {i: _make_builder(graph.case(case.name)) for i, case in shown.items()}

    def build_all(row: OutlineRow | None) -> SummaryRow:
        item = graph.functions.get(row.id) or graph.by_id.get(row.id) if row else None
        by_case = {
            case.name: builders[i](row and msgspec.structs.replace(row, id=case.ids.get(row.id, row.id)))
            for i, case in shown.items()
            if not (row and not row.class_) and (item is None or not item.cases or i in item.cases)
        }
        return msgspec.structs.replace(build(row), cases=mark_cases(item, letters) if item else "", by_case=by_case)

    return build_all


def _place_below(row: SummaryRow, parent: SummaryRow | None) -> SummaryRow:
    """Set level and path of a row below another."""
    if parent is None:
        return row
    # rows of modules that are repeated together have no name in the path
    around = parent.path if parent.class_ else parent.path.removesuffix(parent.name).removesuffix(".")
    path = f"{around}.{row.name}" if around else row.name
    return msgspec.structs.replace(row, level=parent.level + 1, path=path)


def _average_costs(graph: Graph) -> dict[str, tuple[int | None, int | None]]:
    """Average FLOPs and bytes over equal modules, which may share a row: values gave them different amounts."""
    alike = defaultdict[str | None, list[ModuleNode]](list)
    for node in graph.nodes:
        if isinstance(node, ModuleNode):
            alike[node.signature].append(node)
    averages = {
        signature: (_average([one.flops for one in calls]), _average([one.activation_bytes for one in calls]))
        for signature, calls in alike.items()
    }
    return {call.id: averages[call.signature] for calls in alike.values() for call in calls}


def _average(costs: list[int | None]) -> int | None:
    return round(sum(cost or 0 for cost in costs) / len(costs)) if any(costs) else None


def _build_row(
    graph: Graph, bounds: Bounds, costs: dict[str, tuple[int | None, int | None]], row: OutlineRow | None
) -> SummaryRow:
    """Build the row for a row of the outline; None is the model."""
    if row and not row.class_:
        return SummaryRow(name=row.name, calls=row.times, shared=row.shared, sets=row.sets)
    if row and row.id in graph.functions:
        call = graph.functions[row.id]
        return SummaryRow(
            name=row.name,
            class_=row.class_,
            calls=row.times,
            inputs={key: graph.tensors[tensor].shape for key, tensor in call.inputs.items()},
            flops=call.flops,
            activation_bytes=call.activation_bytes,
            time_ns=call.time_ns,
            assumed=_list_assumed(bounds, call.id, {"inputs": call.inputs}),
            named=_list_named(graph, bounds, {"inputs": call.inputs}),
        )
    module = cast("ModuleNode", graph.node(row.id)) if row else graph.model
    flops, activation_bytes = costs.get(row.id if row else "", (module.flops, module.activation_bytes))
    return SummaryRow(
        name=row.name if row else graph.model.name,
        class_=module.class_,
        calls=row.times if row else 1,
        sets=row.sets if row else 1,
        shared=bool(row and row.shared) or getattr(module, "call", 1) > 1,
        inputs={key: graph.tensors[tensor].shape for key, tensor in module.inputs.items()},
        outputs={key: graph.tensors[tensor].shape for key, tensor in module.outputs.items()},
        parameters=module.parameters.total,
        trainable=module.parameters.trainable,
        flops=flops,
        activation_bytes=activation_bytes,
        time_ns=module.time_ns,
        assumed=_list_assumed(bounds, row.id if row else None, {"inputs": module.inputs, "outputs": module.outputs}),
        named=_list_named(graph, bounds, {"inputs": module.inputs, "outputs": module.outputs}),
    )


def _list_assumed(bounds: Bounds, item: str | None, ports: dict[str, dict[str, str]]) -> dict[str, str]:
    """List the numbers of a module call that depend on assumed sizes, with their sign."""
    named = [
        f"{kind}.{name}" for kind, tensors in ports.items() for name, id_ in tensors.items() if id_ in bounds.tensors
    ]
    costs = ["flops"] if item in bounds.flops else []
    costs += ["activation_bytes"] if item in bounds.memory else []
    return dict.fromkeys(named, bounds.sign) | dict.fromkeys(costs, bounds.cost_sign)


def _list_named(graph: Graph, bounds: Bounds, ports: dict[str, dict[str, str]]) -> dict[str, str]:
    """List the shapes of a module call that have names of sizes, with their sign, which a name may make needless."""
    named = graph.sizes.tensors if graph.sizes else {}
    return {
        f"{kind}.{name}": add_sign(bounds.sign if is_assumed else None, named_shape(graph, tensor))
        for kind, tensors in ports.items()
        for name, tensor in tensors.items()
        if tensor in named
        for is_assumed in [tensor in bounds.tensors and not is_counted(graph, tensor)]
    }


def _describe_totals(graph: Graph) -> dict[str, str]:
    model, count = graph.model, graph.model.parameters
    frozen = count.total - count.trainable
    trained = f"{frozen:,} of them frozen" if frozen else "all trainable"
    bounds = bounds_of(graph)
    per_case = _describe_costs(graph)
    most, largest = (f"{bounds.cost_sign} " if None in items else "" for items in (bounds.flops, bounds.memory))
    activations = f"{largest}{format_bytes(model.activation_bytes or 0)} of activations{_list_activation_dtypes(graph)}"
    each = f"{most}{format_flops(model.flops)}; a multiply-add counts as two" if model.flops else "not counted"
    memory = activations if model.activation_bytes else "activations not counted"
    time = {"Own time": f"{format_time(model.time_ns)} inside operations"} if model.time_ns is not None else {}
    return {
        "Parameters": f"{count.total:,}, {trained}" if count.total else "none",
        **({} if per_case else {"FLOPs": each}),
        "Memory": _describe_weights(graph) if per_case else f"{_describe_weights(graph)}, {memory}",
        **({} if per_case else time),
        **per_case,
        **({"Sizes": sizes} if (sizes := say_sizes(graph, has_costs=True)) else {}),
        **({"Assumed": f"{guesses} The mode “real” computes them."} if (guesses := explain_guesses(graph)) else {}),
    }


def _describe_costs(graph: Graph) -> dict[str, str]:
    """Describe what each case costs, if there are several."""
    letters = list_letters(graph)
    costs = [
        f"{letters[i]} {case.name}: {format_flops(case.model.flops or 0)} FLOPs, "
        f"{format_bytes(case.model.activation_bytes or 0)} of activations"
        for i, case in shown_cases(graph).items()
    ]
    return {"Cases": f"{'; '.join(costs)}. A multiply-add counts as two FLOPs"} if len(costs) > 1 else {}


def _describe_weights(graph: Graph) -> str:
    """Describe the bytes of all parameters; a tied weight counts once."""
    sizes = Counter[str]()
    for spec, nbytes in list_weights(graph):
        sizes[spec.dtype] += nbytes
    return f"{format_bytes(sizes.total())} of parameters{_format_dtypes(sizes)}"


def _list_activation_dtypes(graph: Graph) -> str:
    """List the dtypes of the tensors that ops allocate."""
    makers = (node for node in graph.nodes if isinstance(node, OpNode) and node.activation_bytes)
    return _format_dtypes(Counter(graph.tensors[tensor].dtype for node in makers for tensor in node.outputs))


def _format_dtypes(dtypes: Counter[str]) -> str:
    return f" ({', '.join(dtype for dtype, _ in dtypes.most_common())})" if dtypes else ""
