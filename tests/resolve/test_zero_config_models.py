"""Hand-written models in many styles, named and nothing else: all give a connected data-flow diagram."""

from __future__ import annotations

import functools

import pytest

import zero_config_models
from modeldiagrams.ir.check import check_graph
from modeldiagrams.options.parsing import parse_options
from modeldiagrams.resolve import record, resolve
from modeldiagrams.resolve.inputs.candidate_search import is_connected
from modeldiagrams.tracer import trace

PATHS = zero_config_models.paths()


@functools.cache
def found(path):
    """The model with its inputs, as the rules find them."""
    return resolve(parse_options({"model": path}).call)


def test_collection_has_enough_models():
    assert len(PATHS) >= 60


# what a model warns of on inputs that don't fit is not a reader's concern
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.removeprefix("zero_config_models."))
def test_model_is_connected_without_any_option(path):
    target = found(path)
    graph = record(target).graph
    check_graph(graph)
    assert target.note is None, target.tried
    assert graph.status.state == "complete"
    assert is_connected(graph)
    assert any(item.subject == "rule" for item in target.assumptions)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.removeprefix("zero_config_models."))
def test_found_inputs_run_with_values_too(path):
    """Ids in range, lengths no longer than sequences: a pass on fake tensors does not tell."""
    target = found(path)
    assert trace(target.model, target.args, target.kwargs, mode="real").status.error is None
