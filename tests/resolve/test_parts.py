"""The option `part`: a module with the arguments that it gets in a pass of the whole model."""

from __future__ import annotations

import msgspec
import pytest
import torch
from torch import nn

import modeldiagrams
from modeldiagrams.errors import TargetError
from modeldiagrams.options.options import Call
from modeldiagrams.resolve import record, resolve

SEEN = []


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(6, 2)

    def forward(self, x, scale, *, mask=None):
        SEEN.append((x, scale, mask))
        return self.layer(x[mask]) * scale


class Whole(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 6)
        self.head = Head()
        self.unused = nn.Linear(1, 1)

    def forward(self, x):
        try:
            x = self.body(x)
            return self.head(x, 2, mask=x.sum(1) > -1e9) + self.head(x, 3)
        except Exception:  # noqa: BLE001  (as models do)
            return None


class Raises(Whole):
    def forward(self, x):
        raise ValueError(x.shape)


def call_of(name, part):
    return Call(model=f"{__name__}.{name}", inputs=[3, 4], part=part)


def test_part_gets_the_arguments_of_its_first_call():
    target = resolve(call_of("Whole", "head"))
    assert type(target.model) is Head
    SEEN.clear()
    with torch.no_grad():
        whole = Whole()
        whole.load_state_dict(resolve(call_of("Whole", None)).model.state_dict())
        whole(resolve(call_of("Whole", None)).args[0])
    (x, scale, mask), *_ = SEEN
    assert target.args[0].shape == x.shape
    assert torch.equal(target.kwargs["mask"], mask)
    assert target.args[1] == scale == 2
    assert not target.model._forward_pre_hooks


def test_graph_of_a_part_is_that_of_its_own_trace():
    graph = record(resolve(call_of("Whole", "head"))).graph
    assert (graph.model.class_, graph.status.state) == (f"{__name__}.Head", "complete")
    assert [node.id for node in graph.nodes if node.kind == "module"] == ["layer"]
    assert graph.model.parameters.total == 6 * 2 + 2


def test_part_in_python_is_the_part_of_pages():
    expected = record(resolve(call_of("Whole", "head"))).graph
    model = resolve(call_of("Whole", None)).model
    for traced in (
        modeldiagrams.trace(model, (torch.ones(3, 4),), part="head"),
        modeldiagrams.diagram(model, (torch.ones(3, 4),), part="head").graph,
        modeldiagrams.diagram(f"{__name__}.Whole", (torch.ones(3, 4),), part="head").graph,
    ):
        same = msgspec.structs.replace(traced, assumptions=(), sizes=None)  # `diagram` names sizes, `trace` if asked
        assert same == msgspec.structs.replace(expected, assumptions=())
    with pytest.raises(TypeError, match="expected a module, as only modules have parts"):
        modeldiagrams.trace(torch.relu, (torch.ones(3),), part="head")


class Writes(nn.Module):
    """Changes everything that a pass can change before it calls its head, which needs some of it."""

    def __init__(self):
        super().__init__()
        self.norm, self.drop, self.head = nn.BatchNorm1d(4), nn.Dropout(), nn.Linear(4, 2)
        self.register_buffer("seen", torch.zeros(100, 100))
        self.head.calls = 0

    def forward(self, x):
        with torch.no_grad():
            self.head.weight.clamp_(-0.01, 0.01)
        self.seen += 1
        self.head.calls += 1
        return self.head(self.drop(self.norm(x.mul_(2))))


def test_pass_that_finds_arguments_leaves_model_inputs_and_random_numbers_as_they_were():
    model, x = Writes().train(), torch.randn(5000, 4)
    weights, given, numbers = {k: v.clone() for k, v in model.state_dict().items()}, x.clone(), torch.get_rng_state()
    assert modeldiagrams.trace(model, (x,), part="head").status.state == "complete"
    torch.testing.assert_close(dict(model.state_dict()), weights, rtol=0, atol=0)
    assert torch.equal(x, given)
    assert model.head.calls == 0
    assert torch.equal(torch.get_rng_state(), numbers)


def test_trace_of_a_part_takes_options_and_checks_arguments_like_that_of_a_model():
    model, x = Whole(), torch.ones(3, 4)
    assert modeldiagrams.trace(model, (x,), part="head").model.flops
    assert modeldiagrams.trace(model, (x,), part="head", costs=False).model.flops is None
    assert modeldiagrams.trace(nn.Sequential(nn.Linear(3, 4)), costs=False).model.flops is None
    with pytest.raises(TypeError, match="args: expected a tuple of arguments, got a tensor"):
        modeldiagrams.trace(model, x, part="head")
    with pytest.raises(TypeError, match="expected a model, got the class Whole"):
        modeldiagrams.trace(Whole, (x,), part="head")


@pytest.mark.parametrize(
    ("name", "part", "message"),
    [
        ("Whole", "haed", "option `part`: .*Whole has no module 'haed'; did you mean 'head'?"),
        ("Whole", "x", "its modules are body, head, head.layer, unused"),
        ("Whole", "unused", "a pass of the model does not call .*unused"),
        ("Raises", "head", r"raised ValueError: torch.Size\(\[3, 4\]\)"),
    ],
)
def test_part_that_has_no_arguments_is_an_error(name, part, message):
    with pytest.raises(TargetError, match=message):
        resolve(call_of(name, part))
