"""What is written where the tracer does not look is as before, too."""

import pytest
import torch
from torch import nn

from modeldiagrams.tracer import trace
from tracer.seen import Applies, DoubleInPlace, Seen, linear, x


class DoublesWeight(torch.autograd.Function):
    @staticmethod
    def forward(_ctx, given, weight):
        weight.data.mul_(2)
        return given @ weight

    @staticmethod
    def backward(_ctx, grad):
        return grad, None


class ScriptedDoubles(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(4))

    def forward(self, given):
        with torch.no_grad():
            self.weight.mul_(2)
        return given.mul_(2) * self.weight


def scripted(given: torch.Tensor) -> torch.Tensor:
    return given.mul_(2)


@pytest.mark.filterwarnings("ignore")  # scripting is deprecated
@pytest.mark.parametrize("mode", ["real", "auto"])
@pytest.mark.parametrize(
    "way", ["autograd function", "autograd function on a weight", "script function", "script module", "vmap"]
)
def test_what_is_written_out_of_sight_is_as_before(way, mode):
    model = Applies(None, a=linear(), s=torch.jit.script(ScriptedDoubles()))
    function = torch.jit.script(scripted)
    ways = {
        "autograd function": lambda _, h: DoubleInPlace.apply(h),
        "autograd function on a weight": lambda self, h: DoublesWeight.apply(h, self.a.weight),
        "script function": lambda _, h: function(h),
        "script module": lambda self, h: self.s(h),
        "vmap": lambda _, h: torch.vmap(lambda row: row.mul_(2))(h),
    }
    model._function = [ways[way]]
    given = x()
    graph = trace(model, (given,), mode=mode)
    assert graph.status.error is None
    assert torch.equal(given, x())
    assert torch.equal(model.s.weight, torch.ones(4))
    before = model.a.weight.detach().clone()
    trace(model, (given,), mode=mode)
    assert torch.equal(model.a.weight, before)


def test_fake_tensors_are_given_to_no_other_library():
    """It would write to memory that they don't have, which ends the process."""
    graph = trace(Applies(lambda self, h: torch.from_dlpack(self.a(h).detach()).mul_(2), a=linear()), (x(),))
    assert (graph.status.state, graph.status.mode) == ("complete", "real")
    assert Seen(graph).flows("linear", "mul")
