"""The data of a catalogue for its script: ``viewer/src/widget/catalogue`` reads it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from modeldiagrams.engine.catalogue.entries import CatalogueModel
from modeldiagrams.html.catalogue_rows import find_class, find_module, format_inputs

if TYPE_CHECKING:
    from modeldiagrams.engine.catalogue.entries import Catalogue, Family
    from modeldiagrams.ir.figures import Figures

__all__ = ["PageOf", "build_catalogue_data", "name_pictures"]

PageOf = Callable[[CatalogueModel], str | None]
"""Returns the URL of a model's page, relative to the page with the catalogue; None if it has no page."""


def name_pictures(catalogue: Catalogue) -> dict[str, str]:
    """Name the files of small pictures: SVG → file name, that of the first model with this picture."""
    names: dict[str, str] = {}
    for family in catalogue.families:
        for model in family.models:
            if model.picture:
                names.setdefault(model.picture, f"{model.id}.card.svg")
    return names


def build_catalogue_data(catalogue: Catalogue, page_of: PageOf, pictures: dict[str, str]) -> bytes:
    """Build the data as JSON text; what is unknown or empty is left out."""
    models = [model for family in catalogue.families for model in family.models]
    known = [model.figures for model in models if model.figures]
    layers = {name: at for at, name in enumerate(sorted({name for one in known for name in one.layers}))}
    ops = {name: at for at, name in enumerate(sorted({name for one in known for name in one.ops}))}
    uses: dict[Any, int] = {}  # many models use the same
    numbers = [
        uses.setdefault((tuple(layers[n] for n in one.layers), tuple(ops[n] for n in one.ops)), len(uses))
        if (one := model.figures)
        else None
        for model in models
    ]
    at = iter(range(len(models)))
    return msgspec.json.encode(
        {
            "format": "modeldiagrams-catalogue",
            "version": "1.0",
            "groupBy": catalogue.options.group_by,
            "layers": [*layers],
            "ops": [*ops],
            "uses": [*uses],
            "families": [_describe_family(family, [next(at) for _ in family.models]) for family in catalogue.families],
            "models": [
                _describe_model(model, page_of(model), pictures.get(model.picture), uses_at)
                for model, uses_at in zip(models, numbers, strict=True)
            ],
        }
    )


def _describe_family(family: Family, models: list[int]) -> dict[str, Any]:
    return _without_empty(
        name=family.name,
        class_=find_class(family),
        module=find_module(family),
        columns=family.columns,
        rows=family.rows,
        models=models,
    )


def _describe_model(model: CatalogueModel, page: str | None, picture: str | None, uses: int | None) -> dict[str, Any]:
    named = {"name": model.name, "id": model.id, "page": page, "picture": picture, "uses": uses, "since": model.since}
    more = {"aliases": model.aliases, "problem": model.problem}
    return _without_empty(**named, **(_describe_figures(model.figures) if model.figures else {}), **more)


def _describe_figures(figures: Figures) -> dict[str, Any]:
    return {
        "parameters": figures.parameters,
        "flops": figures.flops,
        "flopsSign": figures.flops_sign,
        "activations": figures.activation_bytes,
        "activationsSign": figures.activation_sign,
        "inputs": format_inputs(figures),
        "assumed": figures.has_assumed_inputs,
    }


def _without_empty(**values: Any) -> dict[str, Any]:
    """Leave out what is empty, but no 0, which is a number that is known."""
    return {name.rstrip("_"): value for name, value in values.items() if value or (value == 0 and value is not False)}
