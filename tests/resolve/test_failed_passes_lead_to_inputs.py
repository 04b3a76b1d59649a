"""Inputs found by what fails: each failure changes what it is about, and of several answers the best is taken."""

from __future__ import annotations

import gc

import pytest
import torch
import yaml
from torch import nn

from modeldiagrams.options.parsing import parse_options
from modeldiagrams.resolve import record, resolve
from modeldiagrams.resolve.inputs import failure_search
from modeldiagrams.resolve.inputs import probe as probing
from modeldiagrams.resolve.inputs.budget import Budget
from modeldiagrams.resolve.inputs.candidate_search import count_dead_inputs
from modeldiagrams.resolve.inputs.failure_search import FailureSearch
from modeldiagrams.resolve.inputs.sizes import Sizes
from modeldiagrams.resolve.values.input_entries import Leaf


def solved(model):
    return next(FailureSearch(model.eval(), Budget()).solutions()).entries


def target_of(path, **options):
    return resolve(parse_options({"model": path, **options}).call)


class Called(nn.Module):
    """Runs a function of its inputs."""

    def __init__(self, function):
        super().__init__()
        self.function = function
        self.embed, self.linear, self.conv = nn.Embedding(50, 24), nn.Linear(24, 5), nn.Conv2d(3, 24, 5)


class OneInput(Called):
    def forward(self, x):
        return self.function(self, x)


class TwoInputs(Called):
    def forward(self, a, b):
        return self.function(self, a, b)


@pytest.mark.parametrize(
    ("function", "entry"),
    [
        (lambda m, x: m.linear(x), [1, 24]),
        (lambda m, x: m.linear(x.transpose(1, 2)), [1, 24, 16]),
        (lambda m, x: m.linear(m.conv(x.permute(0, 3, 1, 2)).mean((2, 3))), [1, 32, 32, 3]),
        (lambda m, x: m.linear(x["a"]), {"a": [1, 24]}),
        (lambda m, x: m.linear(x.a), {"_target_": "types.SimpleNamespace", "a": [1, 24]}),
        (lambda m, x: m.linear(torch.einsum("bij,bj->bi", x, torch.ones(x.shape[0], 3)).view(-1, 24)), [1, 24, 3]),
    ],
)
def test_one_input_is_what_its_use_asks_for(function, entry):
    assert solved(OneInput(function))["x"] == entry


@pytest.mark.parametrize(
    ("function", "second"),
    [
        (lambda m, a, b: m.linear(a) if b else a, {"value": False}),
        (lambda m, a, b: m.linear(a * b), [1, 24]),
        (lambda m, a, b: m.linear(a).masked_fill(b == 0, 0.0), [1, 5]),
    ],
)
def test_second_input_suits_the_first(function, second):
    entry = solved(TwoInputs(function))["b"]
    assert (entry if second == {"value": False} or isinstance(entry, list) else entry["shape"]) == second


def test_lengths_that_make_no_sense_if_short_are_kept():
    sizes = Sizes(nn.Linear(3, 2))
    assert sizes.of(Leaf((), (1, 16_000, 5))).shape[:2] == (sizes.batch, 16_000)


class Halves(nn.Module):
    """The name of the second input lets it be left out of what is computed."""

    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(6, 9)

    def forward(self, x, hidden):
        return self.cell(x) if hidden is None else self.cell(x, hidden)


def test_inputs_that_reach_the_output_are_better():
    target = target_of(f"{__name__}.Halves")
    said = {item.subject: yaml.safe_load(item.value) for item in target.assumptions}
    assert said["inputs.hidden"] == [1, 9]
    assert count_dead_inputs(record(target).graph) == 0


class Staged(nn.Module):
    """Ends early at a word."""

    def __init__(self):
        super().__init__()
        self.encode, self.decode = nn.Linear(6, 4), nn.Linear(4, 6)

    def forward(self, x, stage):
        hidden = self.encode(x)
        if stage == "encode":
            return hidden
        if stage == "all":
            return self.decode(hidden)
        raise ValueError(stage)


def test_inputs_with_which_more_modules_are_called_are_better():
    said = {item.subject: yaml.safe_load(item.value) for item in target_of(f"{__name__}.Staged").assumptions}
    assert said["inputs.stage"] == {"value": "all"}


def test_the_model_stays_as_it_was():
    model = OneInput(lambda m, x: m.linear(m.conv(x).mean((2, 3))))
    before = {name: value.clone() for name, value in model.state_dict().items()}
    random = torch.get_rng_state()
    solved(model)
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert torch.equal(torch.get_rng_state(), random)


class MuteError(Exception):
    def __str__(self):
        raise RuntimeError


def test_an_exception_without_a_message_ends_no_search():
    def fail(_model, x):
        raise MuteError(x)

    solver = FailureSearch(OneInput(fail))
    assert not [*solver.solutions()]
    assert solver.budget.lines[0].endswith("MuteError: ")


@pytest.mark.parametrize(("mask", "at"), [(", ", 0), ("3", 7)])
def test_an_exception_that_speaks_of_no_tensor_ends_no_search(mask, at):
    def fail(_model, _x):
        raise IndexError(f"The shape of the mask [{mask}] at index {at} does not match the tensor [2] at index 0")

    solver = FailureSearch(OneInput(fail))
    assert not [*solver.solutions()]
    assert "IndexError" in solver.budget.lines[0]


def test_weights_of_large_models_are_not_copied(monkeypatch):
    monkeypatch.setattr(probing, "_LARGE", 1)
    model = nn.Linear(8, 8)
    assert probing.Probe(model).model.weight is model.weight


class Uncopied(nn.Module):
    """Counts its passes, also those that fail, and can't be copied."""

    def __init__(self):
        super().__init__()
        self.layer, self.passes = nn.Linear(6, 4), 0
        self.register_buffer("seen", torch.zeros(6))

    def __deepcopy__(self, memo):
        raise TypeError

    def forward(self, x):
        self.passes += 1
        self.seen += 1
        return self.layer(x)


def test_a_model_that_cannot_be_copied_stays_as_it_was():
    model = Uncopied().eval()
    assert solved(model)["x"] == [1, 6]
    assert model.passes == 0
    assert model.seen.sum() == 0


class Stateful(nn.Module):
    """Keeps the state of its last pass."""

    def __init__(self):
        super().__init__()
        self.cell, self.state = nn.GRUCell(6, 5), None

    def forward(self, x):
        self.state = x.new_zeros(x.shape[0], 5) if self.state is None else self.state
        self.state = self.cell(x, self.state)
        return self.state


def test_a_pass_knows_nothing_of_the_one_before():
    probe = probing.Probe(Stateful().eval())
    assert [probe.run({"x": {"shape": [rows, 6]}}).error for rows in (7, 3)] == [None, None]


def test_passes_that_only_ask_what_a_failure_depends_on_are_limited(monkeypatch):
    solver = FailureSearch(nn.Linear(8, 8))
    monkeypatch.setattr(failure_search, "_MOST_WORK", -1)
    assert solver.again({"input": {"shape": [2, 8]}}) is None


def test_tensors_of_failed_passes_are_let_go_without_garbage_collection():
    def wide(m, x):
        return m.linear(m.embed(x.long()).flatten(1).repeat(1, 50))

    solver = FailureSearch(OneInput(wide).eval(), Budget(max_passes=3))
    gc.collect()
    gc.disable()
    try:
        assert not [*solver.solutions(3)]
        tensors = [each for each in gc.get_objects() if issubclass(type(each), torch.Tensor)]
    finally:
        gc.enable()
    assert len(solver.budget.lines) == 3
    alive = [tuple(each.shape) for each in tensors if each.ndim == 2 and each.shape[1] % (24 * 50) == 0]
    assert len(alive) <= 2, alive  # of the last pass, and of the one that got furthest
