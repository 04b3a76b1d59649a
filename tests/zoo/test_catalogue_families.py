"""Families of torchvision's models, whose tables say what torchvision itself counts."""

from __future__ import annotations

from collections import Counter

import pytest

from modeldiagrams.engine.catalogue.entries import CatalogueModel
from modeldiagrams.engine.catalogue.families import find_families
from modeldiagrams.ir.figures import list_figures
from modeldiagrams.ir.traits import list_traits
from modeldiagrams.options.call import Call
from modeldiagrams.resolve import record, resolve
from option_helpers import make_options
from zoo.apart import import_from_zoo

pytestmark = pytest.mark.filterwarnings("ignore")

RESNETS = "resnet18 resnet34 resnet50 resnet101 resnet152 resnext50_32x4d wide_resnet50_2"


def test_all_resnets_are_one_family_and_alexnet_is_its_own():
    models = import_from_zoo("torchvision").models
    listed = []
    for name in [*RESNETS.split(), "alexnet", "vgg11", "vgg16"]:
        graph = record(resolve(Call(model=f"torchvision.models.{name}"))).graph
        made = {"figures": list_figures(graph), "traits": list_traits(graph)}
        listed.append(
            CatalogueModel(name=name, id=name, options=make_options(model=f"torchvision.models.{name}"), **made)
        )
    found = {family.name: family for family in find_families(listed)}
    assert {name: len(family.models) for name, family in found.items()} == {"alexnet": 1, "ResNet": 7, "VGG": 2}
    for family in (found["ResNet"], found["VGG"]):
        for model, row in zip(family.models, family.rows, strict=True):
            made = models.get_model_builder(model.name)(weights=None)
            counts = Counter(type(module).__name__ for module in made.modules())
            cells = dict(zip(family.columns, row, strict=True))
            counted = {title: cells[title] for title in {*cells} & {"BasicBlock", "Bottleneck", "Conv2d", "ReLU"}}
            assert counted
            assert counted == {title: str(counts[title] or "–") for title in counted}
