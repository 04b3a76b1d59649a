import copy

import pytest
import torch
from nets import Block, Classifier, Reader, Tagger, TaggerConfig
from nets.models import Hidden
from torch import nn


@pytest.fixture(params=[7, 5])
def classifier(request):
    return Classifier([request.param, 6], nn.Linear(4, 3))


def test_training(classifier):
    classifier(torch.randn(2, classifier.blocks[0].fc.in_features)).sum().backward()


def test_raises():
    with pytest.raises(RuntimeError):
        Classifier([9], nn.Linear(4, 3)).eval()(torch.randn(2, 8))


def test_classifier():
    model = Classifier([5, 6], head=nn.Linear(4, 3)).eval()
    model(torch.rand(9, 5), 2.0)


def test_later():
    Classifier([3], nn.Linear(4, 3)).eval()(torch.randn(2, 3))


def test_tagger():
    model = copy.deepcopy(Tagger(TaggerConfig(width=4), ["x", "y", "z"]).eval())
    model(torch.randint(0, 3, (2, 6)), lengths=torch.tensor([6, 4]))


def test_block():
    Block({"in": 3, "out": 2}, act=nn.GELU)(torch.randn(1, 3))


def test_reader(tmp_path):
    (tmp_path / "text").write_text("four")
    with (tmp_path / "text").open() as file:
        Reader(file)(torch.zeros(1, 4))


def test_hidden():
    Hidden()(torch.zeros(1))


def test_torch_compile_sees_no_recorder():
    seen = []

    def backend(graph, inputs):
        seen.append(graph)
        return graph.forward

    model = torch.compile(Block({"in": 3, "out": 2}), backend=backend, fullgraph=True)
    model(torch.randn(1, 3))
    assert len(seen) == 1


def test_symbolic_trace_sees_no_recorder():
    graph = torch.fx.symbolic_trace(Classifier([3], nn.Linear(4, 3))).graph
    assert [node.op for node in graph.nodes].count("call_module") == 3
