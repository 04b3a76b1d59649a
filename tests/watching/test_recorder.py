"""What is measured is right, and training is not changed."""

from __future__ import annotations

import gc
import math
import sys
import weakref

import pytest
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode

import modeldiagrams
from modeldiagrams import OptionError, load_recording, watch
from modeldiagrams.watching.file.histogram import INFINITE, NAN, list_edges
from modeldiagrams.watching.file.records import Key
from modeldiagrams.watching.recorder.copying import copy_to_host, pack_on_device
from modeldiagrams.watching.recorder.measurement import measure, take_sample
from watching.training import Small, changes_nothing, hooks_on, images, listened_to, loss_of, recorded, train, vectors


def test_training_is_the_same_bit_for_bit(path):
    with changes_nothing(Small, images(20), path):
        assert load_recording(path).steps == tuple(range(0, 20, 3))


def test_values_match_the_tensors(path):
    torch.manual_seed(0)
    model, (batch,) = Small().eval(), images(1)
    kept = {}
    for name, module in model.named_modules():
        module.register_forward_hook(lambda _m, _a, out, name=name: (out.retain_grad(), kept.__setitem__(name, out))[0])
    before = {name: p.detach().clone() for name, p in model.named_parameters()}
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    with watch(model, every=1, path=path) as watcher:
        loss_of(model(*batch)).backward()
        gradients = {name: p.grad.clone() for name, p in model.named_parameters()}
        optimizer.step()
        watcher.step()
    rows = load_recording(path).moments[0].rows
    for name in ("conv", "head", "drop"):
        check(rows[Key(name, "activation")], kept[name])
        check(rows[Key(name, "gradient")], kept[name].grad)
    for name, parameter in before.items():
        module, _, own = name.rpartition(".")
        check(rows[Key(module, "parameter", own)], parameter)
        check(rows[Key(module, "parameter_gradient", own)], gradients[name])
        update = rows[Key(module, "update", own)]
        assert update.norm == pytest.approx(0.5 * gradients[name].norm().item(), rel=1e-3, abs=1e-7)
        is_matrix = parameter.dim() > 1
        assert update.ratio == (pytest.approx(update.norm / parameter.norm().item()) if is_matrix else None)


def check(row, tensor):
    tensor = tensor.detach()
    wanted = (tensor.min(), tensor.max(), tensor.mean(), tensor.norm())
    assert (row.min, row.max, row.mean, row.norm) == pytest.approx(tuple(map(float, wanted)), rel=1e-4, abs=1e-7)
    assert (row.count, row.zeros, row.bad) == (tensor.numel(), int((tensor == 0).sum()), 0)
    for low, high, n in row.histogram.bars():
        values = tensor.flatten()
        inside = (values >= low) & (values < high) if high > 0 else (values > low) & (values <= high)
        assert n == int((inside if low or high else values == 0).sum()) or abs(low) < 2.0**-63


def test_bins_match_those_computed_by_arithmetic():
    values = torch.tensor([0.0, -0.0, 1.0, 1.24, 1.25, -1.0, 3e-30, 1e30, math.inf, -math.inf, math.nan, 2.0**-64])
    row = measure(Key("", "activation"), values, values, "data", None)
    (found,), _ = copy_to_host([row])
    assert found.bins == {-INFINITE: 1, -257: 1, 0: 2, 1: 2, 257: 2, 258: 1, INFINITE - 1: 1, INFINITE: 1, NAN: 1}
    assert list_edges(257) == (1.0, 1.25)
    assert found.ints[:2] == [10, 3]


def test_a_sample_is_a_copy_spread_over_the_tensor():
    tensor = torch.arange(100_003.0)
    for turn in range(5):
        sample = take_sample(tensor, 1024, turn)
        assert len(sample) == 1024
        assert len(sample.unique()) == 1024
        assert sample.min() < 1000
        assert sample.max() > 99_000
        assert sample.data_ptr() != tensor.data_ptr()
    small = take_sample(tensor[:5], 10, 0)
    tensor.zero_()
    assert small.tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("layout", [torch.contiguous_format, torch.channels_last])
def test_channels_last_gives_the_same_measurements(path, layout):
    torch.manual_seed(0)
    model = Small().to(memory_format=layout).eval()
    batch = images(1)[0][0].contiguous(memory_format=layout)
    rows = recorded(model, [(batch,)], path).moments[0].rows
    row = rows[Key("act", "activation")]
    torch.manual_seed(0)
    model = Small().eval()
    expected = model.act(model.norm(model.conv(batch)))
    assert row.zeros == int((expected == 0).sum())
    assert row.units == 8
    assert row.norm == pytest.approx(expected.norm().item(), rel=1e-5)


def test_modules_have_listeners_only_in_recorded_steps(path):
    model, batches = Small(), images(5)
    plain = nn.Module._call_impl
    with watch(model, every=2, path=path) as watcher:
        for step, batch in enumerate(batches):
            assert listened_to(model) == ([*model.modules()] if step % 2 == 0 else [model])
            assert hooks_on(model) == []
            train(model, [batch], watcher)
    assert listened_to(model) == []
    assert nn.Module._call_impl is plain
    assert load_recording(path).steps == (0, 2, 4)


def test_nothing_is_kept_alive(path):
    model, batches = Small(), images(4)
    with watch(model, every=1, path=path) as watcher:
        train(model, batches, watcher)
        outputs = model(*batches[0])
        alive = weakref.ref(outputs)
        del outputs
        assert alive() is None
        gone = weakref.ref(batches[0][0])
        batches.clear()
        gc.collect()
        assert gone() is None


def test_a_garbage_collected_watcher_leaves_nothing(path):
    model = Small()
    watcher = watch(model, every=1, path=path)
    assert listened_to(model)
    del watcher
    gc.collect()
    assert listened_to(model) == []
    assert not sys.modules["torch.optim.optimizer"]._global_optimizer_pre_hooks


def test_a_row_takes_at_most_100_bytes(path):
    torch.manual_seed(0)
    layers = [nn.Sequential(nn.Conv2d(16, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU()) for _ in range(6)]
    model = nn.Sequential(nn.Conv2d(3, 16, 3), *layers)
    found = recorded(model, images(10, 16), path)
    assert path.stat().st_size / sum(len(moment.rows) for moment in found.moments) <= 100


def test_losses_of_all_steps_are_kept(path):
    model, batches = Small(), images(7)
    with watch(model, every=3, path=path) as watcher:
        losses = train(model, batches, watcher)
    found = load_recording(path).losses
    assert [loss.step for loss in found] == list(range(7))
    assert [loss.value for loss in found] == pytest.approx(losses)


def test_a_resumed_training_continues_the_file(path):
    with watch(Small(), every=2, path=path) as watcher:
        train(watcher._model, images(7), watcher)
    with watch(Small(), every=2, path=path, start=4) as watcher:
        train(watcher._model, images(3), watcher)
    found = load_recording(path)
    assert found.steps == (0, 2, 4, 6)
    assert [loss.step for loss in found.losses] == list(range(7))
    assert [run.step for run in found.runs] == [0, 4]


def test_phases_are_separate(path):
    model, batches = Small(), images(3)
    with watch(model, every=2, path=path) as watcher:
        train(model, batches[:1], watcher)  # step 1 is not recorded
        model.eval()
        with watcher.phase("validation"), torch.no_grad():
            model(*batches[0])
        assert listened_to(model) == [model]
        model.train()
        train(model, batches[1:2], watcher)
        model.eval()
        with torch.no_grad():  # before a recorded step: told by the mode
            model(*batches[0])
        model.train()
        train(model, batches[2:], watcher)
    found = load_recording(path)
    assert [(m.step, m.phase) for m in found.moments] == [
        (0, "train"),
        (1, "validation"),
        (2, "train"),
        (2, "validation"),
    ]
    assert all(key.kind == "activation" for m in found.moments if m.phase == "validation" for key in m.rows)
    assert "conv#2" not in found.nodes
    assert found.moments[2].rows[Key("conv", "activation")].fires == 1


def test_a_phase_that_raises_leaves_nothing(path):
    model = Small()
    with watch(model, every=10, path=path) as watcher:
        train(model, images(1), watcher)
        with pytest.raises(ZeroDivisionError), watcher.phase("test"):
            1 / 0  # noqa: B018
        assert listened_to(model) == [model]


def test_some_modules_and_kinds_only(path):
    found = recorded(Small(), images(1), path, modules=["c*"], log=["activations"])
    assert found.keys == (Key("conv", "activation"),)
    again = recorded(Small(), images(1), path, modules=lambda name, _: name == "head", log=["parameters"])
    assert {key.kind for key in again.keys} == {"parameter"}


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"every": 0}, "option `every`: expected a whole number from 1 on, got 0"),
        ({"log": ["weights"]}, "option `log`: expected any of activations, gradients, .*; got 'weights'"),
        ({"sample": 1.5}, "option `sample`: expected a whole number from 1 on, got 1.5"),
    ],
)
def test_bad_arguments_are_named(path, options, problem):
    with pytest.raises(OptionError, match=problem):
        watch(Small(), path=path, **options)
    with pytest.raises(OptionError, match=r"option `model`: expected a torch\.nn\.Module, got int"):
        watch(3, path=path)


def test_node_ids_match_the_graph(path):
    class Shared(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.Linear(6, 6)
            self.b = nn.Sequential(self.a, nn.ReLU())

        def forward(self, x):
            return {"y": self.b(self.a(x)), "z": (self.a(x), x * 2)}

    model = Shared()
    found = recorded(model, vectors(1), path, log=["activations", "inputs"])
    graph = modeldiagrams.trace(model, vectors(1)[0])
    calls = {node.id: node for node in graph.nodes if node.kind == "module"}
    assert set(found.nodes) - {""} == set(calls)
    for name, call in calls.items():
        keys = [key for key in found.keys if key.node == name]
        assert {key.tensor for key in keys if key.kind == "activation"} == {*call.outputs}
        assert {key.tensor for key in keys if key.kind == "input"} == {*call.inputs}
    assert {k.tensor for k in found.keys if k.node == "" and k.kind == "activation"} == {*graph.model.outputs}


def test_units_are_counted_along_the_dimension_of_the_previous_layer(path):
    class Tokens(nn.Module):
        def __init__(self):
            super().__init__()
            self.up, self.act, self.down = nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 6)
            self.conv, self.act2 = nn.Conv1d(5, 7, 1), nn.ReLU()
            with torch.no_grad():
                self.up.bias[:4] = -100

        def forward(self, x):
            return self.act2(self.conv(self.down(self.act(self.up(x))) + x))

    rows = recorded(Tokens(), [(torch.randn(3, 5, 6),)], path).moments[0].rows
    assert (rows[Key("act", "activation")].dead, rows[Key("act", "activation")].units) == (4, 12)
    assert rows[Key("act2", "activation")].units == 7


def test_measuring_does_not_synchronize_an_accelerator():
    """Under fake tensors any question for a value raises; one tensor is left to be copied."""
    with FakeTensorMode():
        tensors = [torch.empty(4, 3, 9, device="cuda") for _ in range(3)]
        rows = [measure(Key("", "activation"), t, take_sample(t, 50, 1), "data", 1) for t in tensors]
        packed, counts = pack_on_device(rows, [torch.empty((), device="cuda")], torch.device("cuda:0"))
    assert packed.device.type == "cuda"
    assert packed.numel() == 3 * (2048 + 4 + 2 * 3) + 1  # counts have twice the bits
    assert counts == 3 * 2 * 3
