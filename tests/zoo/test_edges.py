"""Edges of every small architecture, compared with those autograd sees."""

from __future__ import annotations

import pytest
import torch
import transformers

from modeldiagrams.tracer import trace
from oracle import agreement, differentiable
from zoo import architectures

pytestmark = pytest.mark.filterwarnings("ignore")  # transformers warns about itself

DETACHED = "a value goes on through detach(), where autograd does not see it"
EXCEPTIONS = {
    **dict.fromkeys(("dac", "rf_detr"), DETACHED),
    "phi4_multimodal": "a module reads its input and hands it on: the clone is its, the tensor is not",
}
"""Model types where autograd and the graph differ by more than 1 %, and why."""


@pytest.fixture(scope="module")
def totals(report, share):
    """Edges witnessed, missing, invented; printed at the end."""
    counted = {"models": 0, "witnessed": 0, "missing": 0, "invented": 0}
    yield counted
    found = counted["witnessed"] - counted["missing"]
    share(f"edges of {counted['models']} models, {counted['invented']} invented: found", found, counted["witnessed"])
    for kind, reason in EXCEPTIONS.items():
        report(f"  {kind:24}{reason}")


@pytest.mark.parametrize("kind", architectures.KINDS)
def test_edges_as_autograd_sees_them(kind, totals):
    if kind not in transformers.CONFIG_MAPPING:
        pytest.skip("not in this version of transformers")
    model, inputs = differentiable(*architectures.prepared(kind))
    torch.manual_seed(0)
    graph = trace(model, (), inputs, mode="real")
    torch.manual_seed(0)
    found = agreement(graph, model, inputs)
    totals["models"] += 1
    totals["witnessed"] += found.witnessed
    totals["missing"] += len(found.missing)
    totals["invented"] += len(found.invented)
    agrees = min(found.recall, found.precision) >= 0.99
    assert agrees == (kind not in EXCEPTIONS), (found.missing, found.invented)
