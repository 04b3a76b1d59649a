"""The data of a catalogue for its script: ``viewer/src/widget/catalogue`` reads it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from modeldiagrams.engine.catalogue.entries import CatalogueModel
from modeldiagrams.html.catalogue_rows import find_class, find_module, format_inputs

if TYPE_CHECKING:
    from modeldiagrams.engine.catalogue.entries import Catalogue
    from modeldiagrams.ir.figures import Figures

__all__ = ["PageOf", "build_catalogue_data", "name_pictures"]

PageOf = Callable[[CatalogueModel], str | None]
"""Returns the URL of a model's page, relative to the page with the catalogue; None if it has no page."""

_PART = 500
"""Families or models in a line."""


def name_pictures(catalogue: Catalogue) -> dict[str, str]:
    """Name the files of small pictures: SVG → file name, that of the first model with this picture."""
    models = [model for family in catalogue.families for model in family.models if model.picture]
    return {model.picture: _name_picture(model) for model in reversed(models)}


def build_catalogue_data(catalogue: Catalogue, page_of: PageOf) -> bytes:
    """Build the data as lines of JSON: a head, and parts of the lists of families and models.

    Browsers parse one line at a time, so that pages stay responsive. What is unknown or empty is left out.
    """
    models = [model for family in catalogue.families for model in family.models]
    figures = [model.figures for model in models if model.figures]
    layers = {name: at for at, name in enumerate(sorted({name for one in figures for name in one.layers}))}
    ops = {name: at for at, name in enumerate(sorted({name for one in figures for name in one.ops}))}
    uses = [(tuple(layers[name] for name in one.layers), tuple(ops[name] for name in one.ops)) for one in figures]
    numbers = {used: at for at, used in enumerate(dict.fromkeys(uses))}  # many models use the same
    pictures, left, place = name_pictures(catalogue), iter(uses), iter(range(len(models)))
    lists = {
        "families": [
            _without_empty(
                name=family.name,
                class_=find_class(family),
                module=find_module(family),
                columns=family.columns,
                rows=family.rows,
                models=[next(place) for _ in family.models],
            )
            for family in catalogue.families
        ],
        "models": [
            _without_empty(
                name=model.name,
                id=model.id,
                page=page_of(model),
                picture=(file := pictures.get(model.picture)) == _name_picture(model) or file,
                since=model.since,
                aliases=model.aliases,
                problem=model.problem,
                **(_list_figures(model.figures, numbers[next(left)]) if model.figures else {}),
            )
            for model in models
        ],
    }
    head = {
        "format": "modeldiagrams-catalogue",
        "version": "1.0",
        "groupBy": catalogue.options.group_by,
        "layers": [*layers],
        "ops": [*ops],
        "uses": [*numbers],
    }
    parts = ({name: some[at : at + _PART]} for name, some in lists.items() for at in range(0, len(some), _PART))
    return b"\n".join(msgspec.json.encode(line) for line in (head, *parts))


def _name_picture(model: CatalogueModel) -> str:
    return f"{model.id}.card.svg"


def _list_figures(figures: Figures, uses: int) -> dict[str, Any]:
    return {
        "parameters": figures.parameters,
        "flops": figures.flops,
        "flopsSign": figures.flops_sign,
        "activations": figures.activation_bytes,
        "activationsSign": figures.activation_sign,
        "inputs": format_inputs(figures),
        "assumed": figures.has_assumed_inputs,
        "uses": uses,
    }


def _without_empty(**values: Any) -> dict[str, Any]:
    """Leave out what is empty, but no 0, which is a number that is known."""
    return {name.rstrip("_"): value for name, value in values.items() if value or (value == 0 and value is not False)}
