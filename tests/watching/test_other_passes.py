"""Whatever else is done to a model in a recorded step, works as if nobody watched."""

from __future__ import annotations

import copy
import io
import warnings

import pytest
import torch
from torch import nn
from torch._dynamo.utils import counters
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx

import modeldiagrams
from modeldiagrams import load_recording, watch
from modeldiagrams.watching.file.records import Key
from watching.training import Mlp, loss_of, train, vectors

X = vectors(1)[0][0]


def _without_values(model):
    with FakeTensorMode(allow_non_fake_inputs=True) as mode:
        return model(mode.from_tensor(X))


def _saved(model):
    file = io.BytesIO()
    torch.save(model.requires_grad_(requires_grad=False), file)  # no other state than that of a model
    return b"modeldiagrams" in file.getvalue()


CODE = {
    "jit.script": lambda model: torch.jit.script(model).code,
    "jit.script of a copy": lambda model: torch.jit.script(copy.deepcopy(model)).code,
    "jit.trace": lambda model: torch.jit.trace(model, X, check_trace=False).code,
    "export": lambda model: torch.export.export(model, (X,)).graph_module.code,
    "strict export": lambda model: torch.export.export(model, (X,), strict=True).graph_module.code,
    "symbolic_trace": lambda model: torch.fx.symbolic_trace(model).code,
    "make_fx": lambda model: make_fx(model)(X).code,
    "compile": lambda model: torch.compile(model, backend="eager", fullgraph=True)(X).shape,
    "fake tensors": lambda model: _without_values(model).shape,
    "trace": lambda model: [node.id for node in modeldiagrams.trace(model, (X,)).nodes],
    "save": _saved,
}
SAID = {*CODE} - {"symbolic_trace", "jit.script", "jit.script of a copy", "compile", "strict export", "save"}


@pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")
@pytest.mark.parametrize("name", CODE)
def test_other_passes_work_and_are_not_recorded(path, name):
    torch._dynamo.reset()
    expected = CODE[name](Mlp())
    model = Mlp()
    with warnings.catch_warnings(), watch(model, every=1, path=path) as watcher:
        warnings.filterwarnings("error", message="modeldiagrams")
        train(model, [(X,)])
        assert CODE[name](model) == expected
        watcher.step()
    found = load_recording(path)
    assert found.moments[0].rows[Key("a", "activation")].fires == 1
    assert not any("#" in node for node in found.nodes)
    assert found.notes == ("The model was also exported or traced, which is not recorded.",) * (name in SAID)
    assert found.reduced(1).notes == found.notes


def test_a_model_compiled_in_a_recorded_step_is_unseen_from_then_on(path):
    torch._dynamo.reset()
    model = Mlp()
    with watch(model, every=2, path=path) as watcher:
        compiled = torch.compile(model, backend="eager", fullgraph=True)
        train(compiled, vectors(4), watcher)
    found = load_recording(path)
    assert [moment.unseen for moment in found.moments] == [("a", "b"), ("a", "b")]
    assert found.moments[1].rows[Key("a", "update", "weight")].norm > 0


def test_other_models_are_compiled_once_and_without_a_warning(path):
    torch._dynamo.reset()
    model, other = Mlp(), Mlp()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with watch(model, every=2, path=path) as watcher:
            compiled = torch.compile(other, backend="eager", fullgraph=True)
            before = counters["stats"]["unique_graphs"]
            for batch in vectors(4):
                loss_of(compiled(*batch))
                train(model, [batch], watcher)
        loss_of(compiled(X))
    assert counters["stats"]["unique_graphs"] <= before + 2  # for us, and without us


def test_listening_ends_in_any_order(path):
    """Others replace `nn.Module._call_impl` as well, and put back what they found."""

    def somebody_elses(self, *args):
        return ours(self, *args)

    plain = nn.Module._call_impl
    first, second = Mlp(), Mlp()
    one = watch(first, every=1, path=path)
    ours = nn.Module._call_impl
    two = watch(second, every=1, path=path.with_name("two.mdwatch"))
    one.close()
    train(second, [(X,)], two)
    nn.Module._call_impl = somebody_elses  # inside of which we end and begin
    two.close()
    with watch(first, every=1, path=path) as watcher:
        train(first, [(X,)], watcher)
        nn.Module._call_impl = ours
    assert nn.Module._call_impl is plain
    for name in ("run", "two"):
        assert load_recording(path.with_name(f"{name}.mdwatch")).moments[0].rows[Key("a", "activation")].fires == 1
