from __future__ import annotations

from pathlib import Path

import pytest

from modeldiagrams.engine.builder import DiagramBuilder
from modeldiagrams.options.parsing import parse_options

PROJECT = Path(__file__).parent / "project"


@pytest.fixture(scope="module")
def builder():
    """Without a cache: everything is traced."""
    with DiagramBuilder(None, folder=PROJECT, paths=[PROJECT]) as builder:
        yield builder


@pytest.fixture(scope="module")
def make(builder):
    """Makes a diagram of a model of the project that takes one small tensor."""

    def made(model: str, **options: object):
        return builder.build(parse_options({"model": model, "inputs": "[1, 4]", **options}))

    return made


@pytest.fixture(scope="module")
def fresh(make):
    """The good model's diagram, made by a process that has seen nothing else."""
    return make("hostile.Good")
