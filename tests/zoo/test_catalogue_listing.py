"""Catalogues list what libraries themselves list as their models."""

from __future__ import annotations

import sys

import pytest

from modeldiagrams.resolve.libraries.public_models import find_models
from zoo.apart import import_from_zoo

pytestmark = pytest.mark.filterwarnings("ignore")  # about modules that moved

MOST_OTHERS = {"torchvision": 0.08, "timm": 0.03}
"""Share of a catalogue that is none of the library's own models: parts of detectors, wrappers."""


@pytest.mark.parametrize("library", MOST_OTHERS)
def test_all_models_of_a_library_are_listed_and_little_else(library, report):
    models = import_from_zoo(library).models
    builders = {_builder(models, name) for name in models.list_models()}
    names, problems = find_models([f"{library}.models"], [])
    objects = {name: _object(name) for name in names}
    others = sorted(name for name, found in objects.items() if found not in builders)
    report(f"{library}: {len(names)} listed, {len(builders)} builders; others: {', '.join(others)}")
    assert problems == ()
    assert builders - {*objects.values()} == set()
    assert len(objects) == len({*objects.values()}), "a model has two names"
    assert len(others) <= MOST_OTHERS[library] * len(names)
    assert [name for name in others if not isinstance(objects[name], type)] == []


def _builder(models, name):
    return models.get_model_builder(name) if hasattr(models, "get_model_builder") else models.model_entrypoint(name)


def _object(name):
    module, _, last = name.rpartition(".")
    return getattr(sys.modules[module], last)
