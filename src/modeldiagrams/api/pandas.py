"""Converts a graph to pandas."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modeldiagrams.api.given_graph import check_is_graph
from modeldiagrams.ir.queries import ModuleRow
from modeldiagrams.render.flat import require

if TYPE_CHECKING:
    import pandas as pd

    from modeldiagrams.ir.graph import Graph

__all__ = ["to_pandas"]


def to_pandas(graph: Graph) -> pd.DataFrame:
    """Convert the module calls of a graph, `Graph.module_rows`, to a table; needs pandas.

    Args:
        graph: The graph.

    Returns:
        A row for each module call, by its id. Numbers that were not counted are missing values.

    Raises:
        RenderError: if pandas is not installed.
    """
    check_is_graph(graph)
    pandas = require("pandas", "pandas", "tables")
    table: pd.DataFrame = pandas.DataFrame(graph.module_rows(), columns=[*ModuleRow.__annotations__]).set_index("id")
    return table.astype({"flops": "Int64", "activation_bytes": "Int64", "time_ns": "Int64"})
