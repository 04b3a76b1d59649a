"""Makes tables of what the modules of a model cost at other sizes of its inputs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from modeldiagrams.api.cost_plot import plot_costs
from modeldiagrams.api.cost_rows import list_cost_rows
from modeldiagrams.api.given_graph import check_is_graph
from modeldiagrams.api.nested_text import to_printable
from modeldiagrams.api.summary import LEVELS, check_table
from modeldiagrams.api.text_table import write_table
from modeldiagrams.common.amounts import add_sign, format_bytes, format_flops
from modeldiagrams.errors import ModelDiagramsError, OptionError
from modeldiagrams.html.table_cells import NOTHING
from modeldiagrams.ir.chosen_sizes import complete_sizes, find_unchecked
from modeldiagrams.ir.growth import say_expression, say_growth
from modeldiagrams.ir.named_shapes import shape_at
from modeldiagrams.ir.parameter_memory import OPTIMIZERS, Optimizer, measure_parameters
from modeldiagrams.ir.size_costs import Cost, SizeCosts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from modeldiagrams.api.cost_rows import CostRow
    from modeldiagrams.ir.graph import Graph
    from modeldiagrams.ir.size_costs import CostSum

__all__ = ["CostTable", "cost"]

_TITLES = ("Module", "Class", "Output shape", "Parameters", "Calls", "FLOPs", "", "Activations", "")
_IS_TEXT = (*[True] * 3, *[False] * 6)
_AMOUNTS = {"flops": format_flops, "activation_bytes": format_bytes}
_OPTIMIZERS = {"adam": "Adam", "sgd": "SGD with momentum", "none": "none"}


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
    if optimizer not in OPTIMIZERS:
        raise OptionError("optimizer", f"expected one of {', '.join(OPTIMIZERS)}, got {optimizer!r}")
    if graph.cases:
        raise ModelDiagramsError(
            f"expected a graph of one pass; that of {graph.model.name} has several cases: take one with"
            f" `graph.case({graph.cases[0].name!r})`"
        )
    return CostTable(graph, sizes or {}, depth, optimizer)


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
        self.sizes = complete_sizes(graph, sizes)
        self._given = dict(sizes)
        self._unchecked = find_unchecked(graph, self.sizes)
        self._costs = SizeCosts(graph)
        self._listed = list_cost_rows(graph, self._costs, depth)
        self._rows = [self._measure(row) for row in self._listed]
        self.rows = [row for row in self._rows if row["class"]]
        activations = self.rows[0]["activation_bytes"] or 0
        parameters = measure_parameters(graph, optimizer)
        self.memory = {**parameters._asdict(), "activations": activations, "together": sum(parameters) + activations}

    def _measure(self, row: CostRow) -> dict[str, Any]:
        flops, nbytes = self._costs.measure(row.item, self.sizes, row.calls) if row.class_ else (Cost(None),) * 2
        return {
            "level": row.level,
            "path": row.path,
            "class": row.class_,
            "output_shape": shape_at(self._graph, row.output, self.sizes) if row.output else "",
            "parameters": row.parameters,
            "calls": round((row.rounds or row.calls).evaluate(self.sizes)),
            "flops": flops.amount,
            "flops_sign": flops.sign,
            "activation_bytes": nbytes.amount,
            "activation_bytes_sign": nbytes.sign,
        }

    def __str__(self) -> str:
        rows = [self._format(listed.name, row) for listed, row in zip(self._listed, self._rows, strict=True)]
        return write_table([_TITLES, *rows], _IS_TEXT, self._describe_totals())

    __repr__ = __str__

    def to_json(self) -> str:
        """Convert to JSON."""
        found = {"model": self._graph.model.name, "sizes": self.sizes, "rows": self.rows, "memory": self.memory}
        return json.dumps({**found, "checked_to": self._unchecked}, indent=2, ensure_ascii=False)

    def to_svg(self, over: str | None = None) -> str:
        """Draw activations and FLOPs against one size, by module; the chart is light or dark, as the page around it.

        Args:
            over: The size; None is that with which costs grow fastest.

        Raises:
            OptionError: for a size that doesn't exist, or a graph without any.
        """
        return plot_costs(self._graph, self._costs, self._listed, self._given, over)

    def _format(self, name: str, row: dict[str, Any]) -> list[str]:
        cells = [f"{'  ' * row['level']}{to_printable(name)}", to_printable(row["class"])]
        calls = f"×{row['calls']:,}" if row["calls"] > 1 else "1"
        if not row["class"]:
            return [*cells, "", "", calls, *[""] * 4]
        cells += [
            to_printable(row["output_shape"]) or NOTHING,
            f"{row['parameters']:,}" if row["parameters"] else NOTHING,
        ]
        cells.append(calls)
        for kind, written in _AMOUNTS.items():
            own, whole, sign = row[kind], self.rows[0][kind], row[f"{kind}_sign"]
            cells.append(add_sign(sign, written(own)) if own or (own == 0 and sign == "≥") else NOTHING)
            cells.append(_format_share(own / whole) if own and whole else "")
        return cells

    def _describe_totals(self) -> dict[str, str]:
        model, memory = self.rows[0], self.memory
        found = {"Sizes": _list_sizes(self.sizes)} if self.sizes else {}
        for title, (kind, written) in zip(("FLOPs", "Activations"), _AMOUNTS.items(), strict=True):
            amount = model[kind]
            text = "not counted" if amount is None else add_sign(model[f"{kind}_sign"], written(amount))
            found[title] = text + self._say_growth(getattr(self._costs, kind)[None])
        sign = "≥" if model["activation_bytes"] is None else model["activation_bytes_sign"]
        return {
            **found,
            "Weights": format_bytes(memory["weights"]),
            "Gradients": format_bytes(memory["gradients"]),
            "Optimiser state": f"{format_bytes(memory['optimizer'])}, {_OPTIMIZERS[self._optimizer]}",
            "Together": f"{add_sign(sign, format_bytes(memory['together']))}, if no activation is freed",
            **self._describe_unknown(),
            **({"Checked": f"only up to {_list_sizes(self._unchecked)}"} if self._unchecked else {}),
        }

    def _describe_unknown(self) -> dict[str, str]:
        """Say what makes sums at least."""
        unknown = self._graph.sizes.unknown if self._graph.sizes else {}
        if not unknown or "≥" not in {self.rows[0][f"{kind}_sign"] for kind in _AMOUNTS}:
            return {}
        (first, reason), *others = unknown.items()
        return {"Unknown": f"{first}: {reason}{f'; and {len(others)} more' if others else ''}"}

    def _say_growth(self, total: CostSum) -> str:
        expression, order = total.expression, [*self.sizes]
        if expression is None or not order or (total.rest and not expression.names):
            return ""
        if not expression.names:
            return ", the same at all sizes"
        least = "at least " if total.rest else ""
        return f", grow {least}with {say_growth(expression, order)}: {say_expression(expression, order)}"


def _format_share(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.005 else "<1 %"  # noqa: PLR2004  (half a percent)


def _list_sizes(sizes: Mapping[str, int]) -> str:
    return " · ".join(f"{name} = {size}" for name, size in sizes.items())
