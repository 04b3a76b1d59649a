"""Catalogues made by hand."""

from __future__ import annotations

import random
from typing import Any

from modeldiagrams.engine.catalogue.entries import Catalogue, CatalogueModel, Family
from modeldiagrams.ir.figures import Figures
from modeldiagrams.options.catalogue import read_catalogue
from option_helpers import make_options

LAYERS = ["Conv2d", "Linear", "BatchNorm2d", "GroupNorm", "LayerNorm", "Dropout", "MultiheadAttention", "GELU"]
OPS = ["add", "cat", "conv2d", "flatten", "linear", "matmul", "relu", "softmax"]
STEMS = ["ResNet", "VGG", "DenseNet", "Inception", "MobileNet", "EfficientNet", "Swin", "ViT", "RegNet", "ConvNeXt"]


def small_picture(seed: int = 0) -> str:
    """An SVG of three boxes."""
    boxes = "".join(
        f'<rect x="{10 + 60 * i}" y="{20 + (seed * 7 + i * 13) % 20}" width="40" height="30" rx="4" fill="#7196db"/>'
        for i in range(3)
    )
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 180 90" width="180" height="90">{boxes}</svg>'


def figures(class_: str = "pkg.nets.Net", **values: Any) -> Figures:
    return Figures(**{"class_": class_, "state": "complete", "parameters": 1_000, "structure": class_, **values})


def model(name: str, **values: Any) -> CatalogueModel:
    return CatalogueModel(name=name, options=make_options(model=name), id=f"{name}-1a2b3c4d", **values)


def family(*models: CatalogueModel, name: str = "", **values: Any) -> Family:
    return Family(name=name or models[0].name.rpartition(".")[2], models=models, **values)


def catalogue_of(*families: Family, group_by: str = "family", problem: str = "") -> Catalogue:
    options = read_catalogue({"of": ["pkg"], "group-by": group_by})
    return Catalogue(id="catalogue-1a2b3c4d", options=options, families=families, problem=problem)


def catalogue(entries: int, group_by: str = "family", *, sizes: int = 4) -> Catalogue:
    """Entries of all kinds; every third has several sizes, every tenth fails."""
    chance = random.Random(0)  # noqa: S311  no secret
    return catalogue_of(*(_make_entry(at, chance, sizes) for at in range(entries)), group_by=group_by)


def _make_entry(at: int, chance: random.Random, sizes: int) -> Family:
    stem = f"{STEMS[at % len(STEMS)]}{at // len(STEMS) or ''}"
    class_ = f"vision.models.{stem.lower()}.{stem}"
    if at % 10 == 9:
        return family(model(f"vision.models.{stem.lower()}", problem="ImportError: no module named 'scipy'"))
    many = sizes if at % 3 == 0 else 1
    models = tuple(
        model(
            f"vision.models.{stem.lower()}_{18 * (size + 1)}",
            figures=_make_figures(class_, chance, size),
            picture=small_picture(at),
            since=chance.choice(["0.1", "0.9", "1.2"]),
            aliases=(f"vision.models.{stem}",) if at % 4 == 1 else (),
        )
        for size in range(many)
    )
    if many == 1:
        return family(*models)
    rows = tuple((f"{one.figures.parameters:,}", str(2 + at)) for at, one in enumerate(models) if one.figures)
    return family(*models, name=stem, columns=("Parameters", "Blocks in layer3"), rows=rows)


def _make_figures(class_: str, chance: random.Random, size: int) -> Figures:
    return figures(
        class_,
        parameters=chance.randrange(10**6, 10**8) * (size + 1),
        flops=chance.randrange(10**8, 10**10) * (size + 1),
        flops_sign=chance.choice(["", "", "≥"]),
        activation_bytes=chance.randrange(10**6, 10**9),
        inputs={"x": (1, 3, 224, 224)},
        has_assumed_inputs=chance.random() < 0.6,
        layers=dict.fromkeys(chance.sample(sorted(LAYERS), 4), 3),
        ops=tuple(sorted(chance.sample(OPS, 4))),
    )
