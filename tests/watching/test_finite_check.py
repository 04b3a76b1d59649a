"""The look at every step leaves the training as it is, also where it runs a pass again."""

from __future__ import annotations

import contextlib
import gc
import io
import random
import weakref

import pytest
import torch
from torch import nn

from modeldiagrams import load_recording, watch
from modeldiagrams.errors import OptionError


class Stateful(nn.Module):
    """Keeps what each pass leaves, in all the ways in which models do."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)
        self.calls, self.hidden = 0, None
        self.register_buffer("mean", torch.zeros(3))
        self.register_buffer("mask", torch.full((1, 3), float("nan")).expand(2, 3))

    def forward(self, x):
        self.calls += 1
        self.mean = self.mean + 1  # another tensor
        random.random()  # noqa: S311
        self.hidden = self.layer(x * 1)
        x.add_(1)
        return self.hidden / 0


def trained(path, is_watched):
    random.seed(0)
    torch.manual_seed(0)
    model, x = Stateful(), torch.ones(2, 3)
    optimizer = torch.optim.SGD(model.parameters())
    with watch(model, every=9, path=path) if is_watched else contextlib.nullcontext():
        model(x).sum().backward()
        optimizer.step()
    return model.calls, model.mean.tolist(), model.hidden.requires_grad, x.tolist(), random.random()  # noqa: S311


def test_a_repeated_pass_changes_nothing(path):
    assert trained(path, is_watched=True) == trained(path, is_watched=False)
    (anomaly,) = load_recording(path).noticed
    assert anomaly.what == "activation"  # it was run again


def test_inputs_that_contain_tensors(path):
    class Packed(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.LSTM(3, 4)

        def forward(self, x):
            return self.layer(x)[0].data

    model = Packed()
    with watch(model, every=9, path=path) as watcher:
        model(nn.utils.rnn.pack_sequence([torch.ones(3, 3), torch.ones(2, 3)])).sum().backward()
        watcher.step()
    assert load_recording(path).steps == (0,)


def test_inputs_of_any_class_are_not_kept_alive(path):
    class Batch:
        x = torch.ones(2, 3)

    class Model(nn.Linear):
        def forward(self, batch):
            return super().forward(batch.x)

    model, batch = Model(3, 3), Batch()
    with watch(model, every=9, path=path):
        model(batch)
        alive = weakref.ref(batch)
        del batch
        gc.collect()
        assert alive() is None


def test_a_model_saved_in_a_recorded_step_does_not_need_this_package(path):
    model, file = nn.Sequential(nn.Linear(3, 3)), io.BytesIO()
    with watch(model, every=1, path=path):
        torch.save(model, file)
    assert b"modeldiagrams" not in file.getvalue()
    file.seek(0)
    assert torch.load(file, weights_only=False)(torch.ones(2, 3)).shape == (2, 3)


def test_a_loss_must_be_one_number(path):
    with watch(nn.Linear(3, 3), path=path) as watcher, pytest.raises(OptionError, match=r"one number.*2"):
        watcher.step(torch.ones(2))


def test_a_step_skipped_by_a_fused_optimizer_is_fine(path):
    model = nn.Linear(3, 3)
    optimizer = torch.optim.Adam(model.parameters(), fused=True)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**127)
    with watch(model, every=1, path=path, scaler=scaler) as watcher:
        scaler.scale(model(torch.full((4, 3), 1e3)).sum()).backward()
        scaler.step(optimizer)
        scaler.update()
        watcher.step()
    found = load_recording(path)
    assert found.anomalies == ()
    assert [moment.skipped for moment in found.moments] == [True]


def test_an_intentionally_frozen_layer_is_fine(path):
    model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
    optimizer = torch.optim.SGD(model.parameters())
    with watch(model, every=1, path=path) as watcher:
        for step in range(6):
            model[0].requires_grad_(step < 2)
            model(torch.ones(2, 3)).square().sum().backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=False)  # what it has stays there, and is zero
            watcher.step()
    assert load_recording(path).anomalies == ()


def test_small_gradients_of_a_slow_start_do_not_vanish(path):
    model = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 3))
    nn.init.zeros_(model[2].weight)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    warmup = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: step / 4)
    with watch(model, every=1, path=path) as watcher:
        for _ in range(6):
            (model(torch.ones(2, 3)) - 1).square().sum().backward()
            optimizer.step()
            optimizer.zero_grad()
            warmup.step()
            watcher.step()
    assert load_recording(path).anomalies == ()


def test_layers_that_begin_with_zeros_are_not_dead(path):
    model = nn.Sequential(nn.Linear(3, 8), nn.Linear(8, 8), nn.Linear(8, 3))
    for layer in model[1:]:
        nn.init.zeros_(layer.weight)
        nn.init.zeros_(layer.bias)
    optimizer = torch.optim.SGD(model.parameters())
    with watch(model, path=path) as watcher:
        (model(torch.ones(2, 3)) - 1).square().sum().backward()
        optimizer.step()
        watcher.step()
    assert load_recording(path).anomalies == ()


@pytest.mark.parametrize(("dtype", "value"), [(torch.float16, 2500.0), (torch.float32, 1e25)])
def test_gradients_whose_squares_overflow_are_finite(path, dtype, value):
    model = nn.Linear(64, 1).to(dtype)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-30)
    with watch(model, every=9, path=path):
        torch.nn.functional.linear(torch.full((4, 64), value, dtype=dtype), model.weight).sum().backward()
        optimizer.step()
    assert model.weight.grad.isfinite().all()
    assert load_recording(path).noticed == ()


@pytest.mark.parametrize("is_gone", [True, False])
def test_a_pass_without_its_inputs_is_not_blamed_on_a_module(path, is_gone):
    class Fault(nn.Module):
        def forward(self, x):
            return x * float("nan")

    model, x = nn.Sequential(nn.Linear(3, 3), Fault(), nn.Linear(3, 3), nn.Linear(3, 1)), torch.ones(2, 3)
    optimizer = torch.optim.SGD(model.parameters())
    with watch(model, every=9, path=path):
        model(x * 1 if is_gone else x).sum().backward()
        optimizer.step()
    (found,) = load_recording(path).noticed
    assert (found.node, found.what) == (("", "loss") if is_gone else ("1", "activation"))
    assert found.text == ("gradients are not finite" if is_gone else "the output of 1 is not finite")


@pytest.mark.parametrize("is_training", [True, False])
def test_a_repeated_pass_is_not_recorded(path, is_training):
    model, x = Stateful().train(is_training), torch.ones(2, 3)
    optimizer = torch.optim.SGD(model.parameters())
    with watch(model, every=1, path=path) as watcher:
        for _ in range(2):
            model(x).sum().backward()
            optimizer.step()
            watcher.step()
    recording = load_recording(path)
    assert [anomaly.what for anomaly in recording.noticed] == ["activation"]  # it was run again
    assert [(moment.step, moment.phase) for moment in recording.moments] == [(0, "train"), (1, "train")]
    for moment in recording.moments:
        outputs = {key.node: (row.fires, row.count) for key, row in moment.rows.items() if key.kind == "activation"}
        assert outputs == {"": (1, 6), "layer": (1, 6)}
