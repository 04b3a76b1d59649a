"""Two processes that train together record what one does on the whole batch."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from modeldiagrams import load_recording
from modeldiagrams.watching.growing_file import GrowingRecording

SCRIPT = Path(__file__).with_name("one_rank.py")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """What both processes, and then one alone, recorded."""
    folder = tmp_path_factory.mktemp("ranks")
    ranks = [[folder, "0", "2"], [folder, "1", "2"], [folder, "0", "1"]]
    running = [subprocess.Popen([sys.executable, SCRIPT, *rank], stderr=subprocess.PIPE, text=True) for rank in ranks]
    ended = [process.communicate()[1] for process in running]
    codes = [process.returncode for process in running]
    assert codes[0] > 0, ended[0]  # the last training of the first fails, for the second is gone
    assert codes[1:] == [7, 0], ended
    return folder


@pytest.mark.parametrize("kind", ["ddp", "fsdp"])
def test_two_processes_equal_one(folder, kind):
    alone, both = load_recording(folder / "alone.mdwatch"), load_recording(folder / f"{kind}.mdwatch")
    assert both.steps == alone.steps == (0, 1, 2)
    for one, two in zip(alone.moments, both.moments, strict=True):
        seen = {key for key in one.rows if key.node != "rare"}
        assert {key for key in two.rows if key.node != "rare"} == seen
        for key in seen:
            same(key, one.rows[key], two.rows[key])


def same(key, one, two):
    """Gradients of activations are those of each process's mean, which are larger by the number of processes."""
    factor, processes = 2 if key.kind == "gradient" else 1, 2 if key.kind == "activation" else 1
    assert (two.count, two.zeros, two.units) == (one.count, one.zeros, one.units * processes), key
    for measure in ("min", "max", "mean", "norm"):
        wanted = pytest.approx(factor * getattr(one, measure), rel=1e-4, abs=1e-6)
        assert getattr(two, measure) == wanted, (key, measure)
    assert two.ratio == (None if one.ratio is None else pytest.approx(one.ratio, rel=1e-4)), key
    if key.kind in {"activation", "parameter"}:
        assert two.histogram == one.histogram, key


def test_any_process_may_miss_a_module(folder):
    found = load_recording(folder / "ddp.mdwatch")
    assert {row.fires for _, _, row in found.rows("rare", "activation")} == {1}
    assert {row.fires for _, _, row in found.rows("down", "activation")} == {2}


def test_it_says_what_gradients_of_activations_are(folder):
    note = "Gradients of activations are those of each process's own mean loss."
    assert load_recording(folder / "ddp.mdwatch").notes == (note,)
    assert load_recording(folder / "alone.mdwatch").notes == ()


def test_a_process_that_dies_leaves_a_readable_file(folder):
    assert load_recording(folder / "failed.mdwatch").steps == (0,)


ENDLESS = """
import sys, torch, modeldiagrams
from torch import nn
model = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 8))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
watcher = modeldiagrams.watch(model, every=1, path=sys.argv[1])
while True:
    loss = model(torch.randn(16, 8)).pow(2).mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    watcher.step(loss)
    print(watcher.n, flush=True)
"""


def test_a_killed_training_leaves_all_its_steps_also_to_those_who_follow(tmp_path):
    path = tmp_path / "run.mdwatch"
    growing = GrowingRecording(path, 200, 2)
    with subprocess.Popen([sys.executable, "-c", ENDLESS, path], stdout=subprocess.PIPE, text=True) as training:
        for _ in range(20):
            said = int(training.stdout.readline())
            assert growing.read().moments[-1].step >= said - 1
        os.kill(training.pid, signal.SIGKILL)
    found = load_recording(path)
    assert growing.read().losses == found.losses
    assert len(found.steps) >= said
    assert found.steps == tuple(range(len(found.steps)))
    assert [loss.step for loss in found.losses] == list(found.steps)
