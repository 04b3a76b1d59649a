"""Methods, partials, closures and objects as models: totals are those of what ran, and modules have their names."""

import functools
import itertools

import pytest
import torch
from torch import nn
from torch.nn import functional

from modeldiagrams import summary
from modeldiagrams.ir.graph import ModuleNode
from modeldiagrams.ir.serialize import deserialize, serialize
from modeldiagrams.tracer import trace
from tracer.traced_graph import x

GLOBAL = nn.Linear(4, 3)


class Codec(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(4, 3), nn.ReLU())
        self.decoder = nn.Linear(3, 4)
        self.scale = nn.Parameter(torch.ones(3))
        self.head = nn.Linear(4, 4).requires_grad_(False)
        self.register_buffer("mean", torch.zeros(3))

    def encode(self, h):
        return self.encoder(h) * self.scale

    def decode(self, h, *, twice=False):
        return self.decoder(h - self.mean) * (2 if twice else 1)

    def both(self, h):
        return self.head(self(h))

    def forward(self, h):
        return self.decode(self.encode(h))


class Pipeline:
    def __init__(self):
        self.codec = Codec()
        self.others = [nn.Linear(4, 4)]

    def __call__(self, h):
        return self.codec.decode(self.codec.encode(h))

    def run(self, h):
        return self.others[0](self(h))


def closed_over(codec, last):
    def outer(h):
        return last(inner(h))

    def inner(h):
        return codec.encode(h)

    return outer


def encoded(net, h):
    return net.encode(h)


def calls_global(h):
    return functional.linear(GLOBAL(h), GLOBAL.weight.T)


codec = Codec()
pipeline = Pipeline()
ENCODER, DECODER, SCALE, HEAD = 4 * 3 + 3, 3 * 4 + 4, 3, 4 * 4 + 4
CODEC = ["encoder", "encoder.0", "encoder.1", "decoder"]
IN_CODEC, IN_NET = ([f"{name}.{path}" for path in CODEC] for name in ("codec", "net"))
last = nn.Linear(3, 3)
CASES = {
    "method": (codec.encode, CODEC[:3], ENCODER + SCALE),
    "its module": (codec.both, ["Codec", *CODEC, "head"], ENCODER + DECODER + SCALE + HEAD),
    "forward": (codec.forward, CODEC, ENCODER + DECODER + SCALE),
    "partial of a method": (functools.partial(codec.decode, torch.ones(2, 3), twice=True), CODEC[3:], DECODER),
    "partial of a module": (functools.partial(codec, h=x()), CODEC, ENCODER + DECODER + SCALE + HEAD),
    "partial of a function of a module": (functools.partial(encoded, codec, h=x()), IN_NET[:3], ENCODER + SCALE),
    "closure": (closed_over(codec, last), [*IN_CODEC[:3], "last"], ENCODER + SCALE + 12),
    "global": (calls_global, ["GLOBAL"], ENCODER),
    "lambda": (lambda h: codec.head(h) + codec.head(h * 2), ["codec.head", "codec.head"], HEAD),
    "object": (pipeline, IN_CODEC, ENCODER + DECODER + SCALE),
    "method of an object": (pipeline.run, [*IN_CODEC, "Linear"], ENCODER + DECODER + SCALE + HEAD),
    "function": (functional.relu, [], 0),
}


@pytest.mark.parametrize("mode", ["real", "auto"])
@pytest.mark.parametrize("case", CASES)
def test_total_is_that_of_what_ran(case, mode):
    model, paths, total = CASES[case]
    given = () if "partial" in case else (x(),)
    before = [tensor.clone() for tensor in itertools.chain(codec.parameters(), codec.buffers())]
    graph = trace(model, given, mode=mode)
    assert graph.status.error is None
    assert deserialize(serialize(graph)) == graph
    assert [node.path for node in graph.nodes if isinstance(node, ModuleNode)] == paths
    assert graph.model.parameters.total == total
    parameters = [spec for spec in graph.parameters.values() if spec.kind == "parameter"]
    assert sum(torch.Size(spec.shape).numel() for spec in parameters) == total
    frozen = HEAD if "codec.head" in paths or "head" in paths or case == "partial of a module" else 0
    assert graph.model.parameters.trainable == total - frozen
    text = str(summary(graph))
    assert ("Parameters: none" in text) == (total == 0)
    assert f"{4 * total} B of parameters" in text
    after = [*codec.parameters(), *codec.buffers()]
    assert all(map(torch.equal, before, after))
    assert not any(type(tensor).__name__ == "FakeTensor" for tensor in after)


def test_arguments_of_a_partial_are_inputs():
    graph = trace(functools.partial(codec.decode, torch.ones(2, 3), twice=True))
    assert list(graph.model.inputs) == ["h"]
    assert graph.model.name == "Codec.decode"
    assert "mean" in graph.parameters


def test_names_of_classes_that_functions_define_are_short():
    def make():
        class Net(nn.Sequential):
            pass

        return Net(nn.Linear(4, 3))

    traced = torch.fx.symbolic_trace(make())
    assert trace(make(), (x(),)).model.name == "Net"
    assert trace(make().forward, (x(),)).model.name == "Sequential.forward"
    assert trace(traced, (x(),)).model.name == "Net"
