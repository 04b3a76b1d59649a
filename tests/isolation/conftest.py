from __future__ import annotations

from pathlib import Path

import pytest

from modeldiagrams.diagrams import Maker
from modeldiagrams.options import parse_options

PROJECT = Path(__file__).parent / "project"


@pytest.fixture(scope="module")
def maker():
    """Without a cache: everything is traced."""
    with Maker(None, folder=PROJECT, paths=[PROJECT]) as maker:
        yield maker


@pytest.fixture(scope="module")
def make(maker):
    """Makes a diagram of a model of the project that takes one small tensor."""

    def made(model: str, **options: object):
        return maker.make(parse_options({"model": model, "inputs": "[1, 4]", **options}))

    return made


@pytest.fixture(scope="module")
def fresh(make):
    """The good model's diagram, made by a process that has seen nothing else."""
    return make("hostile.Good")
