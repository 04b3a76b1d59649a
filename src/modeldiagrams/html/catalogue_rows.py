"""What the table of a catalogue says of each entry."""

from __future__ import annotations

from collections import defaultdict
from itertools import accumulate, groupby
from typing import TYPE_CHECKING, NamedTuple

from markupsafe import Markup

from modeldiagrams.common.amounts import add_sign, format_bytes, format_count, format_flops
from modeldiagrams.html.escape import html_text
from modeldiagrams.html.table_cells import NOTHING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from modeldiagrams.engine.catalogue.entries import Catalogue, Family
    from modeldiagrams.ir.figures import Figures

__all__ = ["TITLES", "Row", "break_dots", "find_class", "find_module", "format_inputs", "join_names"]
__all__ += ["list_groups", "list_notes"]

TITLES = ("Parameters", "FLOPs", "Activations", "Inputs", "Since")
"""Of the columns after the name."""
_MOST_ENTRIES, _MOST_MODELS = 60, 1000
"""What a page shows at most, because browsers lay out a table at once; the file with the whole table has no limit."""
_MOST_NAMES, _MOST_INPUTS = 8, 2
"""The most names or inputs in one cell."""
_SIGNS = {"≥": "at least", "≤": "at most", "≈": "about"}


class Row(NamedTuple):
    """One entry of the table."""

    family: Family
    names: list[str]
    """Of its models: short ones if these differ."""
    place: str
    """The module in whose name it was listed; of several models, the one of their class."""
    cells: dict[str, str]
    """Text by title of the column; empty if no model has a graph."""
    assumed: str
    """Whether inputs were found by rules, in a word or two."""
    problems: list[str]


def list_groups(catalogue: Catalogue, *, whole: bool = False) -> list[tuple[str, list[Row]]]:
    """List the rows below each heading, "" for none; unless the table is the `whole` one, as many as a page shows."""
    is_by_module = catalogue.options.group_by == "module"
    groups = defaultdict[str, list["Family"]](list)
    for family in catalogue.families:
        key = find_module(family) if is_by_module else find_class(family) or family.models[0].name
        groups[key if catalogue.options.group_by != "none" else ""].append(family)
    found = sorted(groups.items()) if is_by_module else groups.items()
    rows = [(key if several[1:] or is_by_module else "", family) for key, several in found for family in several]
    totals = accumulate(len(family.models) for _, family in rows)
    most = len(rows) if whole else max(1, min(_MOST_ENTRIES, sum(total <= _MOST_MODELS for total in totals)))
    return [
        (heading, [_make_row(family) for _, family in some])
        for heading, some in groupby(rows[:most], lambda row: row[0])
    ]


def find_class(family: Family) -> str:
    """Return the full name of a family's class; empty if it has no graph."""
    return next((model.figures.class_ for model in family.models if model.figures), "")


def find_module(family: Family) -> str:
    """Return the module that defines a family's class; without a graph, the one in the first name."""
    return (find_class(family) or family.models[0].name).rpartition(".")[0]


def _make_row(family: Family) -> Row:
    figures = [model.figures for model in family.models if model.figures]
    names = [model.name for model in family.models]
    short = [name.rpartition(".")[2] for name in names]
    assumed = {one.has_assumed_inputs for one in figures}
    cells = {
        "Parameters": _format_range(((one.parameters, "") for one in figures), format_count),
        "FLOPs": _format_range(((one.flops, one.flops_sign) for one in figures), format_flops),
        "Activations": _format_range(((one.activation_bytes, one.activation_sign) for one in figures), format_bytes),
        "Inputs": join_names([format_inputs(one) for one in figures if one.inputs], most=1, separator=" or ")
        or NOTHING,
        "Since": join_names([model.since for model in family.models if model.since]) or NOTHING,
    }
    return Row(
        family,
        names=short if len({*short}) == len(names) else names,
        place=find_module(family) if names[1:] else names[0].rpartition(".")[0],
        cells=cells if figures else {},
        assumed="" if True not in assumed else "some assumed" if False in assumed else "assumed",
        problems=[
            f"{model.name}: {model.problem}" if names[1:] else model.problem for model in family.models if model.problem
        ],
    )


def _format_range(amounts: Iterable[tuple[int | None, str]], write: Callable[[int], str]) -> str:
    """Format the least and the most of what is known, ``11.7M–60.2M``, each with its sign."""
    known = sorted((number, sign) for number, sign in amounts if number is not None)
    ends = dict.fromkeys(add_sign(sign, write(number)) for number, sign in known[:1] + known[-1:])
    return "–".join(ends) or NOTHING


def format_inputs(figures: Figures) -> str:
    """Format the inputs of a model: ``x 1×3×224×224``."""
    shapes = {
        name: "?" if shape is None else "×".join(map(str, shape)) or "scalar" for name, shape in figures.inputs.items()
    }
    return join_names([f"{name} {text}" for name, text in shapes.items()], most=_MOST_INPUTS)


def join_names(names: Sequence[str], *, most: int = _MOST_NAMES, separator: str = ", ") -> str:
    """Join different texts, of which only the first are written out."""
    different = [*dict.fromkeys(names)]
    rest = [f"{len(different) - most} more"] if different[most:] else []
    return separator.join([*different[:most], *rest])


def break_dots(names: str) -> Markup:
    """Let lines break after the dots of names."""
    return Markup(".<wbr>").join(html_text(part) for part in names.split("."))


def list_notes(catalogue: Catalogue, rows: Sequence[Row]) -> list[str]:
    """List the sentences under the table: what failed, and what signs and words mean."""
    models = [model for family in catalogue.families for model in family.models]
    failed = sum(model.figures is None for model in models)
    used = {sign for row in rows for text in row.cells.values() for sign in _SIGNS if sign in text}
    signs = "".join(f"; {sign} means {words}" for sign, words in _SIGNS.items() if sign in used)
    has = "has" if failed == 1 else "have"
    return [
        *([f"{failed:,} of {len(models):,} models {has} no diagram; the table says why."] if failed else []),
        f"FLOPs and activations are of one pass with the inputs shown{signs}.",
        *(["“Assumed” inputs were found by rules; nobody wrote them."] if any(row.assumed for row in rows) else []),
    ]
