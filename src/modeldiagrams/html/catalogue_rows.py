"""What the table of a catalogue says of each entry."""

from __future__ import annotations

from collections import defaultdict
from itertools import accumulate, groupby
from typing import TYPE_CHECKING, NamedTuple

from modeldiagrams.common.amounts import add_sign, format_bytes, format_count, format_flops
from modeldiagrams.html.table_cells import NOTHING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from modeldiagrams.engine.catalogue.entries import Catalogue, Family
    from modeldiagrams.ir.figures import Figures

__all__ = ["COLUMNS", "Row", "find_class", "find_module", "format_inputs", "join_names", "list_groups", "list_notes"]

COLUMNS = {
    "parameters": "Parameters",
    "flops": "FLOPs",
    "activations": "Activations",
    "inputs": "Inputs",
    "since": "Since",
}
"""Titles of the columns after the name."""

_MOST_ENTRIES, _MOST_MODELS = 300, 1000
"""What a page shows at most; the file with the whole table has no limit."""
_MOST_NAMES, _MOST_INPUTS = 8, 2
"""The most names or inputs in one cell."""
_SIGNS = {"≥": "at least", "≤": "at most", "≈": "about"}

Group = tuple[str, list["Row"]]
"""A heading, "" for entries without one, and its rows."""


class Row(NamedTuple):
    """One entry of the table."""

    family: Family
    cells: dict[str, str]
    """Text by column; empty if no model has a graph."""
    assumed: str
    """Whether inputs were found by rules, in a word or two."""
    problems: list[str]


def list_groups(catalogue: Catalogue, *, whole: bool = False) -> list[Group]:
    """List the rows of the table; unless it is the `whole` one, as many as a page shows."""
    by_key = defaultdict[str, list["Family"]](list)
    for family in catalogue.families:
        by_key[_find_group(catalogue, family)].append(family)
    is_by_module = catalogue.options.group_by == "module"
    found = sorted(by_key.items()) if is_by_module else by_key.items()
    all_ = [(key if members[1:] or is_by_module else "", family) for key, members in found for family in members]
    if not whole:
        totals = accumulate(len(family.models) for _, family in all_)
        all_ = all_[: max(1, min(_MOST_ENTRIES, sum(total <= _MOST_MODELS for total in totals)))]
    return [(key, [_make_row(family) for _, family in some]) for key, some in groupby(all_, lambda entry: entry[0])]


def _find_group(catalogue: Catalogue, family: Family) -> str:
    match catalogue.options.group_by:
        case "module":
            return find_module(family)
        case "family":
            return find_class(family) or family.models[0].name
        case "none":
            return ""


def find_class(family: Family) -> str:
    """Return the full name of a family's class; empty if it has no graph."""
    figures = _list_figures(family)
    return figures[0].class_ if figures else ""


def find_module(family: Family) -> str:
    """Return the module that defines a family's class; without a graph, the one in the first name."""
    return (find_class(family) or family.models[0].name).rpartition(".")[0]


def _list_figures(family: Family) -> list[Figures]:
    return [model.figures for model in family.models if model.figures]


def _make_row(family: Family) -> Row:
    figures = _list_figures(family)
    named = [(f"{model.name}: " if family.models[1:] else "", model.problem) for model in family.models]
    assumed = {one.has_assumed_inputs for one in figures}
    inputs = [text for one in figures if (text := format_inputs(one))]
    cells = {
        "parameters": _format_range(((one.parameters, "") for one in figures), format_count),
        "flops": _format_range(((one.flops, one.flops_sign) for one in figures), format_flops),
        "activations": _format_range(((one.activation_bytes, one.activation_sign) for one in figures), format_bytes),
        "inputs": join_names(inputs, most=1, separator=" or ") or NOTHING,
        "since": join_names([model.since for model in family.models if model.since]) or NOTHING,
    }
    return Row(
        family,
        cells=cells if figures else {},
        assumed={(True,): "assumed", (False, True): "some assumed"}.get(tuple(sorted(assumed)), ""),
        problems=[name + problem for name, problem in named if problem],
    )


def _format_range(amounts: Iterable[tuple[int | None, str]], write: Callable[[int], str]) -> str:
    """Format the least and the most of what is known, ``11.7M–60.2M``, each with its sign."""
    known = sorted((number, sign) for number, sign in amounts if number is not None)
    ends = dict.fromkeys(add_sign(sign, write(number)) for number, sign in known[:1] + known[-1:])
    return "–".join(ends) or NOTHING


def format_inputs(figures: Figures) -> str:
    """Format the inputs of a model: ``x 1×3×224×224``."""
    return join_names([f"{name} {_format_shape(shape)}" for name, shape in figures.inputs.items()], most=_MOST_INPUTS)


def _format_shape(shape: tuple[int | str, ...] | None) -> str:
    return "?" if shape is None else "×".join(map(str, shape)) or "scalar"


def join_names(names: Sequence[str], *, most: int = _MOST_NAMES, separator: str = ", ") -> str:
    """Join different texts, of which only the first are written out."""
    different = [*dict.fromkeys(names)]
    rest = len(different) - most
    return separator.join([*different[:most], *([f"{rest} more"] if rest > 0 else [])])


def list_notes(catalogue: Catalogue, rows: Sequence[Row]) -> list[str]:
    """List the sentences under the table: what failed, and what signs and words mean."""
    models = [model for family in catalogue.families for model in family.models]
    failed = sum(model.figures is None for model in models)
    cells = [text for row in rows for text in row.cells.values()]
    signs = [f"; {sign} means {words}" for sign, words in _SIGNS.items() if any(sign in text for text in cells)]
    count = f"{failed:,} of {len(models):,} models {'has' if failed == 1 else 'have'}" if failed else ""
    return [
        *([f"{count} no diagram; the table says why."] if failed else []),
        f"FLOPs and activations are of one pass with the inputs shown{''.join(signs)}.",
        *(["“Assumed” inputs were found by rules; nobody wrote them."] if any(row.assumed for row in rows) else []),
    ]
