"""Joins the models of a catalogue: equal graphs are one model, and models that differ in sizes are one family."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from itertools import count
from textwrap import shorten
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from modeldiagrams.common.amounts import add_sign, format_bytes, format_count, format_flops
from modeldiagrams.engine.catalogue.entries import Family

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from modeldiagrams.engine.catalogue.entries import Catalogue, CatalogueModel
    from modeldiagrams.ir.figures import Figures
    from modeldiagrams.ir.traits import Traits

__all__ = ["find_families", "join_aliases", "summarise_failures"]

_MOST_COLUMNS, _MOST_NUMBERS = 8, 3
"""The most columns of a table, which a page has room for; and of numbers of blocks, and of sizes."""
_MOST_NAMES, _MOST_REASONS, _LONGEST_REASON = 50, 3, 300
"""What a message names at most."""
_NONE = "–"
T = TypeVar("T")


def join_aliases(models: Iterable[CatalogueModel]) -> list[CatalogueModel]:
    """Make one model of those with equal graphs; its other names become aliases."""
    by_graph = _group(models, lambda model: _graph_of(model) or model.name)
    joined = []
    for equal in by_graph:
        first, *others = sorted(equal, key=lambda model: _rank_name(model.name))
        aliases = tuple(sorted(other.name for other in others))
        joined.append(msgspec.structs.replace(first, aliases=aliases))
    return joined


def _graph_of(model: CatalogueModel) -> str:
    """Return what is the same for equal graphs; empty without a complete pass: what is unknown may differ."""
    return model.figures.structure if model.figures and model.figures.state == "complete" else ""


def _rank_name(name: str) -> tuple[Any, ...]:
    """Rank by what readers search: paths with few parts, functions before classes, short names."""
    last = name.rpartition(".")[2]
    return name.count("."), last[:1].isupper(), len(name), name


def find_families(models: Iterable[CatalogueModel]) -> tuple[Family, ...]:
    """Make a family of the models that have a class, the same parts and the same operations."""
    groups = _group(models, _design_of)
    families = [_make_family(sorted(members, key=_rank_size)) for members in groups]
    alike = _group(families, lambda family: family.name)
    distinct = [named for several in alike for named in (_distinguish(several) if several[1:] else several)]
    return tuple(sorted(distinct, key=lambda family: (family.name.lower(), family.models[0].name)))


def _distinguish(families: Sequence[Family]) -> Iterator[Family]:
    """Add what tells families of a name apart: a model to designs of one class, more of their paths to models."""
    paths = [family.models[0].name.split(".") for family in families]
    length = next(length for length in count(2) if len({*(tuple(path[-length:]) for path in paths)}) == len(paths))
    for family, path in zip(families, paths, strict=True):
        name = f"{family.name} ({path[-1]} …)" if family.models[1:] else ".".join(path[-length:])
        yield msgspec.structs.replace(family, name=name)


def _design_of(model: CatalogueModel) -> Any:
    if not model.figures or not model.traits:
        return model.name
    # one class may hold several designs, such as VGG with and without BatchNorm; sizes need no other operations
    return model.figures.class_, model.traits.parts, model.figures.ops


def _rank_size(model: CatalogueModel) -> tuple[int, str]:
    return model.figures.parameters if model.figures else 0, model.name


def _make_family(models: list[CatalogueModel]) -> Family:
    if len(models) == 1:
        return Family(name=models[0].name.rpartition(".")[2], models=tuple(models))
    figures = [model.figures for model in models if model.figures]
    columns = _list_costs(figures) | _list_structure([model.traits for model in models if model.traits])
    rows = zip(*columns.values(), strict=True)
    return Family(
        name=figures[0].class_.rpartition(".")[2],
        models=tuple(models),
        columns=tuple(columns)[:_MOST_COLUMNS],
        rows=tuple(row[:_MOST_COLUMNS] for row in rows),
    )


def _list_costs(figures: Sequence[Figures]) -> dict[str, list[str]]:
    """Return title → cells: parameters, and costs and inputs that differ."""
    parameters = {"Parameters": [format_count(one.parameters) for one in figures]}
    others = {
        "FLOPs": [_format(one.flops, one.flops_sign, format_flops) for one in figures],
        "Activations": [_format(one.activation_bytes, one.activation_sign, format_bytes) for one in figures],
        "Inputs": [
            ", ".join(f"{name} {_format_shape(shape)}" for name, shape in one.inputs.items()) or _NONE
            for one in figures
        ],
    }
    return parameters | {title: cells for title, cells in others.items() if len({*cells}) > 1}


def _list_structure(traits: Sequence[Traits]) -> dict[str, list[str]]:
    """Return title → cells of what differs: numbers of blocks, or else of layers; and sizes."""
    blocks = _different([one.blocks for one in traits])
    return (blocks or _different([one.layers for one in traits])) | _different([one.sizes for one in traits])


def _different(numbers: Sequence[Mapping[str, float]]) -> dict[str, list[str]]:
    """Return name → cells of what differs: first one for each group of models that lack it, then other numbers.

    Of numbers that tell the models apart in the same way, the first counts.
    """
    names = dict.fromkeys(name for one in numbers for name in one)
    cells = {name: [str(one.get(name, _NONE)) for one in numbers] for name in names}
    lacked = {
        tuple(cell == _NONE for cell in column): name for name, column in reversed(cells.items()) if _NONE in column
    }
    others = {tuple(map(column.index, column)): name for name, column in reversed(cells.items())}
    chosen = dict.fromkeys([*sorted(lacked.values(), key=[*names].index), *sorted(others.values(), key=[*names].index)])
    return {name: cells[name] for name in [name for name in chosen if len({*cells[name]}) > 1][:_MOST_NUMBERS]}


def _format(number: int | None, sign: str, write: Callable[[int], str]) -> str:
    return _NONE if number is None else add_sign(sign, write(number))


def _format_shape(shape: tuple[int | str, ...] | None) -> str:
    return "?" if shape is None else "×".join(map(str, shape)) or "scalar"


def _group(members: Iterable[T], key: Callable[[T], Any]) -> Iterable[list[T]]:
    found = defaultdict[Any, list[T]](list)
    for member in members:
        found[key(member)].append(member)
    return found.values()


def summarise_failures(catalogue: Catalogue) -> str | None:
    """Count and name the models without a complete diagram in one sentence, with the most frequent reasons."""
    models = [model for family in catalogue.families for model in family.models]
    failed = [model for model in models if model.problem]
    if not failed:
        return None
    # of reasons that differ only in numbers, the first stands for all
    texts = {re.sub(r"\d+", "0", text): text for text in map(_generalise, reversed(failed))}
    reasons = Counter(re.sub(r"\d+", "0", _generalise(model)) for model in failed)
    most = [(texts[kind], number) for kind, number in reasons.most_common(_MOST_REASONS)]
    told = [f"{number} × {reason}" if failed[1:] else reason for reason, number in most]
    names, rest = [model.name for model in failed[:_MOST_NAMES]], len(failed) - _MOST_NAMES
    have = "have" if failed[1:] else "has"
    return (
        f"{len(failed)} of {len(models)} models {have} no complete diagram: {', '.join(names)}"
        f"{f' and {rest} more' if rest > 0 else ''} ({'; '.join([*told, *['…'] * (len(reasons) > len(told))])})"
    )


def _generalise(model: CatalogueModel) -> str:
    """Return the reason of a failure without the model's name, so that equal reasons are counted together."""
    reason = model.problem.removeprefix(f"{model.name}: ").replace(model.name, "the model")
    return shorten(re.split("[.;] ", reason)[0].rstrip("."), _LONGEST_REASON, placeholder=" …")
