"""Lists the models of built sites with their figures, and compares those of two sites."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urljoin

import msgspec

from modeldiagrams.common.globs import compile_globs
from modeldiagrams.engine.catalogue.site_index import read_index
from modeldiagrams.engine.compare.sides import SCHEMES
from modeldiagrams.engine.compare.versions import read_site_index
from modeldiagrams.errors import GraphError, ModelDiagramsError
from modeldiagrams.ir.figures import Figures

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["Row", "catalogue", "compare_models", "find_models"]

Row = dict[str, Any]

_LEFT_OUT = {"layers", "ops"}
"""Figures that lists of diagrams leave out."""
_FIGURES = {field.encode_name: field.name for field in msgspec.structs.fields(Figures) if field.name not in _LEFT_OUT}
"""Key → field."""
_KEYS = ("name", *_FIGURES, "page", "graph")
"""The keys of a row."""


def catalogue(where: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """List the models that a built site shows, with their figures, without running or downloading them.

    Args:
        where: The address of the site (``https://…``) or its folder, or those of its list,
            ``modeldiagrams/index.json``.

    Returns:
        One dict for each model, by name; several if pages call it differently. `name`; `class`; `state` of the pass:
        ``complete``, ``partial`` or ``hierarchy``; `parameters`; `flops` and `activation_bytes`, None if not counted,
        with a sign (`flops_sign`, `activation_sign`) if they are only a bound or an estimate; `inputs`, name → shape,
        and `has_assumed_inputs` if the site's author didn't write them; `structure`, the `structural_digest` of the
        graph; the addresses of its `page` and its `graph`. All figures are None if an older release built the site.

    Raises:
        ModelDiagramsError: if there is no such site, or its list is of a later version.
    """
    place, content = read_site_index(os.fspath(where))
    try:
        index = read_index(content)
    except GraphError as error:
        raise ModelDiagramsError(f"{place}: expected a site's list of diagrams: {error}") from error
    known = dict(enumerate(index.figures))
    rows: dict[tuple[str, int | None], Row] = {}
    for item in sorted(index.diagrams, key=lambda item: (item.model, item.pages)):
        figures = known.get(item.figures) if item.figures is not None else None
        own = {key: getattr(figures, name, None) for key, name in _FIGURES.items()}
        page, graph = (_locate(place, name) for name in (f"../{min(item.pages, default='')}", f"{item.id}.json"))
        rows.setdefault((item.model, item.figures), {"name": item.model, **own, "page": page, "graph": graph})
    return [*rows.values()]


def find_models(where: str, patterns: Sequence[str]) -> list[Row]:
    """List the models of a site whose name, or its last part, matches a pattern; without patterns, all."""
    fits = compile_globs(patterns or ["*"])
    return [row for row in catalogue(where) if fits(row["name"]) or fits(row["name"].rpartition(".")[2])]


def _locate(index: str, name: str) -> str:
    """Return where a file of a site is, relative to the list's folder."""
    if index.startswith(SCHEMES):
        return urljoin(index, quote(name, safe="/#%"))
    return os.path.normpath(os.path.join(os.path.dirname(index), name))  # noqa: PTH118, PTH120  (pages have anchors)


def compare_models(ours: Sequence[Row], theirs: Sequence[Row]) -> list[Row]:
    """Put the models of two sites side by side.

    Models belong together if their names are equal, or else their graphs, or else the last parts of their names if only
    one model has it there.

    Returns:
        A row for each model of the first site, and for those that only the second has: the keys of both rows, those of
        the second after `their_`, and `is_same`: whether the graphs are equal, None if a site doesn't know.
    """
    find_theirs, find_ours = _finder(theirs), _finder(ours)
    pairs: list[tuple[Row | None, Row | None]] = [(row, find_theirs(row)) for row in ours]
    taken = {id(found) for _, found in pairs}
    pairs += [(find_ours(row), row) for row in theirs if id(row) not in taken]
    rows = []
    for our, their in ((our or {}, their or {}) for our, their in pairs):
        known = our.get("structure"), their.get("structure")
        joined = {name: our.get(name) for name in _KEYS} | {f"their_{name}": their.get(name) for name in _KEYS}
        rows.append({**joined, "is_same": known[0] == known[1] if all(known) else None})
    return rows


def _finder(rows: Sequence[Row]) -> Callable[[Row], Row | None]:
    by_key: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        for key in _list_keys(row):
            by_key.setdefault(key, []).append(row)

    def find(row: Row) -> Row | None:
        *sure, short = _list_keys(row)
        named = by_key.get(short, [])
        return next((by_key[key][0] for key in sure if key in by_key), named[0] if len(named) == 1 else None)

    return find


def _list_keys(row: Row) -> list[tuple[str, ...]]:
    """List what identifies a model, the surest first."""
    name, structure = row["name"], row["structure"]
    graph = [("both", name, structure), ("name", name), ("graph", structure)] if structure else [("name", name)]
    return [*graph, ("short", name.rpartition(".")[2])]
