"""Edges between leaf module calls, compared with autograd's, for a dozen architectures of all kinds."""

import pytest
import torch

from modeldiagrams.tracer import trace
from oracle import agreement, differentiable
from zoo import architectures

KINDS = (
    *("bart", "bert", "deepseek_v3", "gpt2", "llama", "mamba", "mixtral", "mobilevit", "segformer", "swin", "t5"),
    *("vit", "wav2vec2", "whisper"),
)


@pytest.mark.filterwarnings("ignore")  # transformers warns about itself
@pytest.mark.parametrize("kind", KINDS)
def test_edges_agree_with_autograd(kind):
    model, inputs = differentiable(*architectures.prepared(kind))
    found = agreement(trace(model, (), inputs, mode="real"), model, inputs)
    assert found.witnessed >= 10
    assert found.recall >= 0.99, found.missing
    assert found.precision >= 0.99, found.invented


def test_oracle_notices_a_missing_and_an_invented_edge():
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
            self.is_chained = True

        def forward(self, x):
            return self.b(self.a(x)) if self.is_chained else self.a(x) + self.b(x)

    model = Model()
    inputs = {"x": torch.ones(1, 2)}
    chained = trace(model, (), inputs, mode="real")
    assert agreement(chained, model, inputs)[:2] == (1.0, 1.0)
    model.is_chained = False
    assert agreement(chained, model, inputs).invented == {("a", "b")}
    parallel = trace(model, (), inputs, mode="real")
    model.is_chained = True
    assert agreement(parallel, model, inputs).missing == {("a", "b")}
