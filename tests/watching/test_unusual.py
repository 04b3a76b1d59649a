"""Tensors, models and trainings of unusual kinds: measured as they are, and nothing raises into the training."""

from __future__ import annotations

import math
import warnings

import pytest
import torch
from torch import nn
from torch.utils import _pytree
from torch.utils.checkpoint import checkpoint

from modeldiagrams import load_recording, watch
from modeldiagrams.watching.file.records import Key, Row
from modeldiagrams.watching.recorder.copying import copy_to_host
from modeldiagrams.watching.recorder.measurement import Measurement, take_sample
from modeldiagrams.watching.recorder.partial_rows import PartialRow, merge_partial_rows
from watching.training import hooks_on, listened_to, loss_of, vectors


def warned(caught):
    return [str(warning.message) for warning in caught if "modeldiagrams" in str(warning.message)]


# tensors


def test_samples_respect_strides():
    pairs = torch.stack([torch.ones(10_000), -torch.ones(10_000)], -1)
    assert take_sample(pairs[..., 0], 4096, 1).unique().tolist() == [1]
    assert take_sample(torch.ones(()).expand(100, 100), 4096, 1).unique().tolist() == [1]


def test_the_gradient_of_a_sum_is_recorded(path):
    model = nn.Linear(8, 200)
    with warnings.catch_warnings(record=True) as caught, watch(model, every=1, path=path) as watcher:
        warnings.simplefilter("always")
        model(torch.randn(64, 8)).sum().backward()
        watcher.step()
    assert warned(caught) == []
    row = load_recording(path).moments[0].rows[Key("", "gradient")]
    assert (row.min, row.max, row.count) == (1, 1, 12_800)


def test_counts_of_very_large_tensors_do_not_wrap():
    row = Measurement(Key("", "activation"), torch.ones(4), 5_000_000_000)
    row.floats = [torch.tensor(1.0)] * 4
    row.ints = [torch.tensor(3_000_000_001), torch.tensor(0), torch.tensor(0)]
    (found,), extra = copy_to_host([row], [torch.tensor(0.5)])
    assert (found.ints, found.floats, extra) == ([3_000_000_001, 0, 0], [1.0] * 4, [0.5])


def test_overflowing_norms_of_micro_batches_are_infinite():
    key = Key("", "gradient")
    parts = [PartialRow((key,), Row(count=4, norm=norm), "data", None) for norm in (3e38, 3e38)]
    assert merge_partial_rows(parts[:1])[key].norm == 3e38
    assert merge_partial_rows(parts)[key].norm == math.inf


# updates


def test_small_updates_of_doubles_are_accurate(path):
    model = nn.Linear(4, 4).double()
    nn.init.constant_(model.weight, 10.0)
    before = model.weight.detach().clone()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-10)
    with watch(model, every=1, path=path) as watcher:
        model(torch.ones(2, 4, dtype=torch.float64)).sum().backward()
        optimizer.step()
        watcher.step()
    row = load_recording(path).moments[0].rows[Key("", "update", "weight")]
    assert row.norm == pytest.approx((model.weight - before).norm().item(), rel=1e-4)


def test_the_first_of_several_optimizer_steps_is_measured(path):
    model = nn.Linear(4, 4)
    norm = model.weight.norm().item()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with watch(model, every=1, path=path) as watcher:
        for _ in range(4):
            optimizer.zero_grad()
            model(torch.ones(3, 4)).sum().backward()
            optimizer.step()
        watcher.step()
    rows = load_recording(path).moments[0].rows
    parameter, gradient, update = (
        rows[Key("", kind, "weight")] for kind in ("parameter", "parameter_gradient", "update")
    )
    assert [row.fires for row in (parameter, gradient, update)] == [1, 1, 1]
    assert parameter.norm == pytest.approx(norm)
    assert update.norm == pytest.approx(0.1 * gradient.norm, rel=1e-3)


# losses, writing


@pytest.mark.parametrize("loss", [-1e39, torch.tensor(-1e39, dtype=torch.float64)])
def test_an_overflowing_loss_is_infinite(path, loss):
    with watch(nn.Linear(2, 2), every=1, path=path) as watcher:
        watcher.step(loss)
    assert [found.value for found in load_recording(path).losses] == [-math.inf]


@pytest.mark.parametrize("what", ["Writer.add", "merge_partial_rows"])
def test_an_error_while_writing_warns_once(path, monkeypatch, what):
    model = nn.Linear(2, 2)
    with watch(model, every=2, path=path) as watcher, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        monkeypatch.setattr(f"modeldiagrams.watching.recorder.watcher.{what}", lambda *_: 1 / 0)
        for _ in range(2):
            model(torch.ones(2, 2)).sum().backward()
            watcher.step(1.0)
    assert ["ZeroDivisionError" in text for text in warned(caught)] == [True]


def test_losses_do_not_accumulate_when_the_disk_is_full(path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    with watch(nn.Linear(2, 2), every=2, path=path) as watcher:
        monkeypatch.setattr("modeldiagrams.watching.file.writer.Writer.add", full)
        with pytest.warns(RuntimeWarning, match="No space"):
            watcher.step(1.0)
        for _ in range(5):
            watcher.step(torch.ones((), device="meta"))  # as of an accelerator: nobody asks for its value
        assert watcher._losses.tensors() == []


def test_a_phase_that_raises_ends(path):
    model = nn.Linear(3, 3)

    def validate(watcher):
        with watcher.phase("validation"):
            raise ValueError

    with watch(model, every=1, path=path) as watcher:
        with pytest.raises(ValueError):  # noqa: PT011 (ours)
            validate(watcher)
        model(torch.ones(2, 3)).sum().backward()
        watcher.step()
    (moment,) = load_recording(path).moments
    assert moment.phase == "train"
    assert Key("", "activation") in moment.rows


# inputs, models


class Cache:
    """As of a library that refuses to take apart what it didn't make for that."""


def refused(_):
    raise RuntimeError("not to be taken apart")


@pytest.fixture
def cache():
    _pytree.register_pytree_node(Cache, refused, lambda *_: Cache())
    yield Cache()
    _pytree._deregister_pytree_node(Cache)


def test_inputs_that_can_not_be_flattened_are_fine(path, cache):
    class Cached(nn.Linear):
        def forward(self, x, cache):  # noqa: ARG002
            return super().forward(x) / 0

    model = Cached(3, 3)
    optimizer = torch.optim.SGD(model.parameters())
    with watch(model, every=9, path=path) as watcher:
        model(torch.ones(2, 3), cache).sum().backward()
        optimizer.step()
        watcher.step()
    (anomaly,) = load_recording(path).noticed
    assert anomaly.what == "loss"


def test_an_error_while_checking_warns_once(path, monkeypatch):
    monkeypatch.setattr("modeldiagrams.watching.recorder.finite_check._pick_gradients", lambda *_: 1 / 0)
    model = nn.Linear(3, 3)
    optimizer = torch.optim.SGD(model.parameters())
    with warnings.catch_warnings(record=True) as caught, watch(model, every=9, path=path) as watcher:
        warnings.simplefilter("always")
        for _ in range(3):
            model(torch.ones(2, 3)).sum().backward()
            optimizer.step()
            watcher.step()
    assert ["no longer checks" in text for text in warned(caught)] == [True]


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning", "ignore:.*torch.jit:FutureWarning")
@pytest.mark.parametrize("every", [1, 9])
def test_scripted_modules_work(path, every):
    model = nn.Sequential(nn.Linear(4, 4), torch.jit.script(nn.Linear(4, 1)))
    optimizer = torch.optim.SGD(model.parameters())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with watch(model, every=every, path=path, log=["inputs", "activations"]) as watcher:
            for factor in (1, math.inf):
                (model(torch.ones(2, 4)) * factor).sum().backward()
                optimizer.step()
                watcher.step()
    assert warned(caught) == []
    assert len(load_recording(path).noticed) == 1
    assert hooks_on(model) == listened_to(model) == []


def test_a_repeated_pass_keeps_what_autograd_needs(path):
    class Two(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("scale", torch.ones(4))
            self.register_buffer("calls", torch.ones(4))
            self.body, self.one, self.other = nn.Linear(4, 4), nn.Linear(4, 1), nn.Linear(4, 1)

        def forward(self, x):
            self.calls.add_(1)
            body = self.body(x) * self.scale * self.calls
            return self.one(body.detach()), self.other(body)

    model = Two()
    first = torch.optim.SGD(model.one.parameters())
    with watch(model, every=9, path=path):
        one, other = model(torch.ones(2, 4))
        (one * math.inf).sum().backward()
        first.step()
        other.sum().backward()
    assert model.calls.tolist() == [2] * 4
    assert model.body.weight.grad is not None
    assert len(load_recording(path).noticed) == 1


# checkpoints


def test_gradients_across_checkpoints_are_not_compared(path):
    class Scaled(nn.Linear):
        def forward(self, x):
            return super().forward(x) * 30

    class Deep(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.blocks = nn.Linear(6, 6), nn.ModuleList(Scaled(6, 6) for _ in range(5))
            self.last = nn.Linear(6, 6)

        def forward(self, x):
            x = self.first(x)
            for block in self.blocks:
                x = checkpoint(block, x, use_reentrant=True)
            return self.last(x)

    torch.manual_seed(0)
    model = Deep()
    with watch(model, every=1, path=path) as watcher:
        loss_of(model(*vectors(1)[0])).backward()
        watcher.step()
    (moment,) = load_recording(path).moments
    names = {(one.node, other.node) for one, other in moment.edges}
    assert ("first", "last") not in names
