"""Unions of cases against the graph of each case alone: named models, random programs, long passes. In `make zoo`."""

from __future__ import annotations

import time

import pytest

from cases_by_hand import long_passes
from cases_by_hand.models import MODELS
from cases_by_hand.oracle import faults, fewest
from cases_by_hand.random_programs import random_model
from modeldiagrams.ir.cases import unite_cases

pytestmark = pytest.mark.filterwarnings("ignore")  # libraries warn about themselves


@pytest.fixture(scope="module")
def sizes(share):
    """Nodes of the unions, and how many these have at least; printed at the end."""
    counted = {"united": 0, "fewest": 0}
    yield counted
    share("nodes of unions that no union could do without", counted["fewest"], counted["united"])
    assert counted["united"] <= 1.05 * counted["fewest"]  # what cases share is in the union once


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_each_case_comes_out_as_it_went_in(model, sizes):
    graphs = model.graphs()
    assert faults(graphs) == []
    sizes["united"] += len(unite_cases(graphs).nodes)
    sizes["fewest"] += fewest(graphs)


@pytest.mark.parametrize("seed", range(150))
def test_random_programs_do_too(seed):
    graphs = random_model(seed, count=3 + seed % 3).graphs()
    assert faults(graphs) == []


@pytest.mark.parametrize("model", long_passes.MODELS, ids=lambda model: model.name)
def test_two_thousand_ops_a_case_take_little_time(model, report):
    graphs = model.graphs()
    assert min(len(graph.nodes) for graph in graphs.values()) >= 2000
    start = time.process_time()
    union = unite_cases(graphs)
    seconds = time.process_time() - start
    report(f"{model.name}: {[len(graph.nodes) for graph in graphs.values()]} → {len(union.nodes)} in {seconds:.2f} s")
    assert seconds < 6  # 2 s on a machine that does nothing else
