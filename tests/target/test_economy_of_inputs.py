"""Each pass of a search for inputs should be worth it."""

from __future__ import annotations

import torch
from torch import nn

from modeldiagrams.options.parsing import parse_options
from modeldiagrams.target import resolve
from modeldiagrams.target.inference.input_solver import InputSolver
from modeldiagrams.target.inference.probing import Probe
from modeldiagrams.target.inference.sizes import Sizes


def target_of(path):
    return resolve(parse_options({"model": path}).call)


class LongWindows(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(257, 4)
        self.conv = nn.Conv1d(4, 8, 50, stride=50)
        self.pool = nn.MaxPool1d(20, 20)
        self.out = nn.Linear(8, 2)

    def forward(self, x):
        return self.out(self.pool(self.conv(self.embed(x).transpose(1, 2))).amax(-1))


class LongLoop(nn.Module):
    def __init__(self, steps=600):
        super().__init__()
        self.steps, self.step = steps, nn.Linear(4, 4)

    def forward(self, x):
        for _ in range(self.steps):
            x = torch.tanh(self.step(x)) + x
        return x


def test_an_input_of_which_layers_leave_nothing_grows_in_one_try():
    solver = InputSolver(LongWindows())
    solution = next(solver.solutions())
    assert solution.entries["x"]["shape"][1] == 1024
    assert len(solver.budget.lines) <= 3


def test_where_no_size_that_was_given_out_is_left_a_pass_with_values_gets_the_fewest():
    sizes = Sizes(nn.Linear(4, 4))
    steps = sizes.new(("done",), 1)
    entries = {"frames": [sizes.product([sizes.batch, steps]), 4, 84, 84], "done": [sizes.batch, steps]}
    assert sizes.fewest(entries) == {"frames": [2, 4, 84, 84], "done": [1, 2]}


def test_after_a_long_pass_on_fake_tensors_others_have_values():
    probe = Probe(LongLoop())
    assert probe.run({"x": [2, 4]}).error is None
    assert probe.is_long
    run, kinds = probe._run, []

    def noted(*args, is_fake):
        kinds.append(is_fake)
        return run(*args, is_fake=is_fake)

    probe._run = noted
    assert probe.run({"x": [2, 5]}).error is not None
    assert kinds == [False]


class Tiles(nn.Module):
    """A slide is a bag of tiles, of which each becomes a row: any height would give rows, but not one for each."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv2d(1, 20, 5), nn.MaxPool2d(2), nn.Conv2d(20, 50, 5), nn.MaxPool2d(2))
        self.out = nn.Linear(50 * 4 * 4, 8)

    def forward(self, x):
        rows = self.out(self.conv(x.squeeze(0)).view(-1, 50 * 4 * 4))
        return rows.softmax(0).sum(0)


def test_what_is_flattened_keeps_its_rows():
    shapes = {a.subject: a.value for a in target_of(f"{__name__}.Tiles").assumptions}
    assert shapes["inputs.x"] == "[1, 8, 1, 28, 28]"


class Skeletons(nn.Module):
    """Two conditions in one ``assert`` without words: after a change for the first, it fails in the same way."""

    def __init__(self):
        super().__init__()
        self.joints, self.embed = 21, nn.Linear(21 * 3, 8)

    def forward(self, *inputs):
        batch, steps, joints, places = inputs[0].size()
        assert joints == self.joints and places == 3  # noqa: PT018  (as people write it)
        return self.embed(inputs[0].view(batch, steps, joints * places))


def test_a_condition_of_which_another_part_fails_is_no_failure_again():
    solver = InputSolver(Skeletons().eval())
    first, second = ({0: shape} for shape in ([7, 31, 37, 11], [7, 31, 21, 11]))
    assert [solver._is_repeated(solver._run(each)) for each in (first, second, second)] == [False, False, True]
