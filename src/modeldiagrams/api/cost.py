"""Makes tables of what the modules of a model cost at other sizes of its inputs."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any, NamedTuple

from modeldiagrams.api.cost_plot import plot_costs
from modeldiagrams.api.cost_rows import CostRow, list_cost_rows
from modeldiagrams.api.given_graph import check_is_graph
from modeldiagrams.api.nested_text import to_printable
from modeldiagrams.api.summary import LEVELS, check_table
from modeldiagrams.api.text_table import write_table
from modeldiagrams.common.amounts import add_sign, format_bytes, format_flops
from modeldiagrams.errors import ModelDiagramsError, OptionError
from modeldiagrams.html.table_cells import NOTHING
from modeldiagrams.ir.chosen_sizes import complete_sizes
from modeldiagrams.ir.growth import say_expression, say_growth
from modeldiagrams.ir.named_shapes import shape_at
from modeldiagrams.ir.parameter_memory import OPTIMIZERS, Optimizer, measure_parameters
from modeldiagrams.ir.size_costs import CostSum, ItemCosts, SizeCosts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from modeldiagrams.ir.graph import Graph

__all__ = ["CostTable", "check_optimizer", "cost"]

_TITLES = ("Module", "Class", "Output shape", "Parameters", "Calls", "FLOPs", "", "Activations", "")
_TEXTS = 3
"""The number of columns with texts, before those with numbers."""
_FIELDS = (
    *("level", "path", "class", "output_shape", "parameters", "calls"),
    *("flops", "flops_sign", "activation_bytes", "activation_bytes_sign"),
)


def cost(
    graph: Graph, sizes: Mapping[str, int] | None = None, *, depth: int = LEVELS, optimizer: Optimizer = "adam"
) -> CostTable:
    """Make a table of what a model costs at other sizes: ``print(modeldiagrams.cost(graph, {"T": 8192, "B": 4}))``.

    Args:
        graph: The traced model, with names of sizes.
        sizes: Name → size; those left out are those of the graph.
        depth: The number of module levels.
        optimizer: ``adam`` keeps two numbers of each weight that it trains, ``sgd`` (with momentum) one, ``none`` none.

    Returns:
        The table: text when printed, and `rows` for scripts.

    Raises:
        ModelDiagramsError: for a size that is unknown, or that the model or its expressions don't take.
        OptionError: for another invalid option.
        RenderError: if the viewer, which groups equal modules, fails or was not built.
    """
    check_is_graph(graph)
    check_table(depth, ())
    check_optimizer(optimizer)
    if graph.cases:
        raise ModelDiagramsError(
            f"expected a graph of one pass; that of {graph.model.name} has several cases: take one with"
            f" `graph.case({graph.cases[0].name!r})`"
        )
    return CostTable(graph, sizes or {}, depth, optimizer)


def check_optimizer(name: str) -> None:
    """Check the option `optimizer`; call it before the graph is traced.

    Raises:
        OptionError: for another one.
    """
    if name not in OPTIMIZERS:
        raise OptionError("optimizer", f"expected one of {', '.join(OPTIMIZERS)}, got {name!r}")


class _Line(NamedTuple):
    """A row at the sizes of the table."""

    row: CostRow
    calls: int
    shape: str
    costs: ItemCosts


class CostTable:
    """What the modules of a model cost at some sizes of its inputs.

    Attributes:
        sizes: Name → size, of all sizes.
        rows: One dict for each row, the model first: `level` (0 is the model), `path`, `class`, `output_shape`,
            `parameters`, `calls`, `flops` and `activation_bytes`, of all calls together; None is not counted. A sign
            (`flops_sign`, `activation_bytes_sign`) says that a number is only a bound.
        memory: Bytes of `weights`, `gradients`, `optimizer`, `activations`, and `together`.
    """

    def __init__(self, graph: Graph, sizes: Mapping[str, int], depth: int, optimizer: Optimizer) -> None:
        self._graph = graph
        self._optimizer = optimizer
        self._given = dict(sizes)
        self.sizes = complete_sizes(graph, sizes)
        self._costs = SizeCosts(graph)
        self._lines = [self._measure(row) for row in list_cost_rows(graph, self._costs, depth)]
        activations = self._lines[0].costs.activation_bytes.amount or 0
        parameters = measure_parameters(graph, optimizer)
        self.memory = {**parameters._asdict(), "activations": activations, "together": sum(parameters) + activations}
        self.rows = [_to_row(line) for line in self._lines if line.row.class_]

    def _measure(self, row: CostRow) -> _Line:
        shape = shape_at(self._graph, row.output, self.sizes) if row.output else ""
        measured = self._costs.measure(row.item, row.flops, row.activation_bytes, self.sizes)
        return _Line(row, round(row.calls.evaluate(self.sizes)), shape, measured)

    def __str__(self) -> str:
        table = [[*_TITLES], *(self._format(line) for line in self._lines)]
        return write_table(table, [i < _TEXTS for i in range(len(_TITLES))], self._describe_totals())

    __repr__ = __str__

    def to_json(self) -> str:
        """Convert to JSON."""
        model, order = self._lines[0].row, [*self.sizes]
        grows = {
            name: {"expression": str(cost.expression), "growth": say_growth(cost.expression, order)}
            for name, cost in (("flops", model.flops), ("activation_bytes", model.activation_bytes))
            if cost.expression is not None
        }
        found = {"model": self._graph.model.name, "sizes": self.sizes, "rows": self.rows}
        return json.dumps({**found, "memory": self.memory, "totals": grows}, indent=2, ensure_ascii=False)

    def to_csv(self) -> str:
        """Convert the rows to CSV."""
        text = io.StringIO()
        writer = csv.DictWriter(text, _FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.rows)
        return text.getvalue().rstrip("\n")

    def to_svg(self, over: str | None = None) -> str:
        """Draw activations and FLOPs against one size, by module; the chart is light or dark, as the page around it.

        Args:
            over: The size; None is that with which costs grow fastest.

        Raises:
            OptionError: for a size that doesn't exist, or a graph without any.
        """
        return plot_costs(self._graph, self._costs, [line.row for line in self._lines], self._given, over)

    def _format(self, line: _Line) -> list[str]:
        row, model = line.row, self._lines[0].costs
        name = f"{'  ' * row.level}{to_printable(row.name)}"
        calls = f"×{line.calls:,}" if line.calls > 1 else "1"
        if not row.class_:
            return [name, "", "", "", calls, "", "", "", ""]
        cells = [name, to_printable(row.class_), to_printable(line.shape) or NOTHING]
        cells += [f"{row.parameters:,}" if row.parameters else NOTHING, calls]
        for own, whole, written in zip(line.costs, model, (format_flops, format_bytes), strict=True):
            share = _format_share(own.amount / whole.amount) if own.amount and whole.amount else ""
            cells += [add_sign(own.sign, written(own.amount)) if own.amount else NOTHING, share]
        return cells

    def _describe_totals(self) -> dict[str, str]:
        model, memory, order = self._lines[0], self.memory, [*self.sizes]
        found = {"Sizes": " · ".join(f"{name} = {size}" for name, size in self.sizes.items())} if self.sizes else {}
        sums = (("FLOPs", model.row.flops, format_flops), ("Activations", model.row.activation_bytes, format_bytes))
        for (title, total, written), measured in zip(sums, model.costs, strict=True):
            text = "not counted" if measured.amount is None else add_sign(measured.sign, written(measured.amount))
            found[title] = text + (_say_growth(total, order) if order else "")
        sign = model.costs.activation_bytes.sign
        names = {"adam": "Adam", "sgd": "SGD with momentum", "none": "none"}
        return {
            **found,
            "Weights": format_bytes(memory["weights"]),
            "Gradients": format_bytes(memory["gradients"]),
            "Optimiser state": f"{format_bytes(memory['optimizer'])}, {names[self._optimizer]}",
            "Together": f"{add_sign(sign, format_bytes(memory['together']))}, if no activation is freed",
            **({"Unknown": unknown} if (unknown := self._describe_unknown()) else {}),
        }

    def _describe_unknown(self) -> str:
        """Say what makes sums at least."""
        if "≥" not in {cost.sign for cost in self._lines[0].costs} or self._graph.sizes is None:
            return ""
        (first, reason), *others = self._graph.sizes.unknown.items()
        return f"{first}: {reason}{f'; and {len(others)} more' if others else ''}"


def _say_growth(total: CostSum, order: list[str]) -> str:
    if total.expression is None:
        return ""
    if not total.expression.names:
        return "" if total.rest else ", the same at all sizes"
    least = "at least " if total.rest else ""
    return f", grow {least}{say_growth(total.expression, order)}: {say_expression(total.expression, order)}"


def _format_share(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.005 else "<1 %"  # noqa: PLR2004  (half a percent)


def _to_row(line: _Line) -> dict[str, Any]:
    row, (flops, nbytes) = line.row, line.costs
    values = (row.level, row.path, row.class_, line.shape, row.parameters, line.calls, flops.amount, flops.sign)
    return dict(zip(_FIELDS, (*values, nbytes.amount, nbytes.sign), strict=True))
