"""Code that leaves a shape open: the likelier meaning is read first, and another where its uses clash."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from modeldiagrams.target.inference.input_solver import InputSolver
from modeldiagrams.target.inference.symbolic.equations import Equations
from modeldiagrams.target.inference.symbolic.guesses import Guesses
from modeldiagrams.target.inference.symbolic.shapes import ClashError, Dim, same
from modeldiagrams.target.inference.symbolic.tensors import Reading
from target.found_inputs import first_entries


def shapes_of(entries):
    return {name: entry["shape"] if isinstance(entry, dict) else entry for name, entry in entries.items()}


class Pairs(nn.Module):
    """Words beside words: the new dimensions are in the middle, for features and for a mask of three dimensions."""

    def __init__(self):
        super().__init__()
        self.left, self.right, self.score = nn.Embedding(23, 6), nn.Embedding(23, 6), nn.Linear(6, 3)

    def forward(self, chain, rows):
        pair = self.left(chain)[:, :, None] + self.right(chain)[:, None]
        logits = self.score(pair).permute(0, 3, 1, 2)[:, None] + (1 - rows[:, :, None, None]) * -1e9
        return torch.einsum("bsi,bshij->bshj", rows, logits.softmax(-1))


def test_new_dimensions_may_be_in_the_middle():
    found = shapes_of(first_entries(Pairs()))
    batch, words = found["chain"]
    assert len(found["rows"]) == 3
    assert found["rows"][0] == batch != words == found["rows"][2]


class Scaled(nn.Module):
    """Features of a step scale the channels of a signal: here the new dimension is the last one."""

    def __init__(self):
        super().__init__()
        self.step, self.conv = nn.Linear(5, 8), nn.Conv1d(8, 8, 3)

    def forward(self, signal, step):
        return self.conv(signal * self.step(step)[:, :, None])


def test_new_dimensions_may_be_the_last():
    batch, channels, _ = shapes_of(first_entries(Scaled()))["signal"]
    assert shapes_of(first_entries(Scaled()))["step"] == [batch, 5]
    assert channels == 8


class Resets(nn.Module):
    """What is combined with features of three widths has one of its own: 1."""

    def __init__(self):
        super().__init__()
        self.mix, self.cell = nn.Linear(4 + 3, 9), nn.GRUCell(9, 7)

    def forward(self, noise, action, alive, memory):
        for step in range(2):
            x = self.mix(torch.cat([noise * alive[step], action[step] * alive[step]], -1))
            memory = self.cell(x, memory * alive[step])
            noise = memory[:, :4]
        return memory


def test_an_operand_of_features_of_several_widths_has_one_column():
    found = shapes_of(first_entries(Resets()))
    assert found["alive"][-1] == 1
    assert (found["noise"][-1], found["action"][-1], found["memory"][-1]) == (4, 3, 7)


class Gaps(nn.Module):
    """As many times as steps, of which only a loop tells, and only of what lies between them."""

    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(3 + 1, 6)

    def forward(self, series, times):
        gaps = torch.cat([times.new_zeros(1), times[1:] - times[:-1]])
        h = series.new_zeros(series.size(0), 6)
        for step in reversed(range(series.size(1))):
            h = self.cell(torch.cat([series[:, step], gaps[step].expand(h.size(0), 1)], -1), h)
        return h


def test_a_loop_over_one_input_tells_how_many_items_another_has():
    found = shapes_of(first_entries(Gaps()))
    assert found["times"] == [found["series"][1]]


class Lags(nn.Module):
    """A series of numbers, of which ends and windows are taken beside features of every step."""

    def __init__(self):
        super().__init__()
        self.site, self.rnn = nn.Embedding(9, 4), nn.GRU(2 + 5 + 4 + 1, 6, batch_first=True)

    def forward(self, site, past, covariates):
        assert past.shape[1] == 10
        scale = past[:, -8:].abs().mean(1, keepdim=True)
        fixed = torch.cat([self.site(site), scale.log()], dim=-1)
        lags = torch.stack([past[:, -8 - lag : past.shape[1] - lag] for lag in (1, 2)], dim=-1)
        return self.rnn(torch.cat([lags, covariates[:, -8:], fixed.unsqueeze(1).expand(-1, 8, -1)], -1))[0]


def test_windows_from_the_end_tell_ranks_and_sizes():
    found = shapes_of(first_entries(Lags()))
    batch = found["site"][0]
    assert (found["site"], found["past"]) == ([batch], [batch, 10])
    assert (len(found["covariates"]), found["covariates"][2]) == (3, 5)


@pytest.mark.parametrize("kind", [nn.LSTM, nn.LSTMCell])
def test_the_state_of_an_lstm_is_a_pair(kind):
    class Steps(nn.Module):
        def __init__(self):
            super().__init__()
            self.rnn = kind(6, 5)

        def forward(self, x, hidden):
            return self.rnn(x, hidden)

    entries = first_entries(Steps())
    assert [shape[-1] for shape in entries["hidden"]] == [5, 5]


def test_a_clash_names_the_guesses_that_it_came_from():
    guesses, a, b, c = Guesses(), Dim(), Dim(4), Dim(5)
    assert guesses.is_usual()
    assert guesses.is_usual(a, b)
    same(a, b)
    with pytest.raises(ClashError) as clash:
        same(a, c)
    guesses.clash(clash.value.guesses)
    assert [*guesses.suspects] == [1]
    guesses.clash(ClashError().guesses)  # of ranks
    assert [*guesses.suspects] == [1, 0]


def test_equations_that_no_sizes_solve_are_clashes():
    equations, whole, part = Equations(), Dim(5), Dim(3)
    equations.add(whole, {part: 1}, 1)
    assert len(equations.solve()) == 1


def test_dimensions_of_which_the_same_follows_are_one():
    equations, a, b, rest = Equations(), Dim(), Dim(), Dim()
    equations.add(a, {rest: 1}, 1)
    equations.add(b, {rest: 1}, 1)
    assert not equations.solve()
    assert a.end() is b.end()


class Cameras(nn.Module):
    """Views that add dimensions, inverted matrices, and pictures of whose sides a view takes a part."""

    def __init__(self):
        super().__init__()
        self.look = nn.Conv2d(3, 5, 4, stride=4)

    def forward(self, pictures, turns, lenses, shifts):
        b, n, c, h, w = pictures.shape
        rays = turns.matmul(torch.inverse(lenses)).view(b, n, 1, 3, 3).matmul(torch.ones(7, 3, 1)).squeeze(-1)
        points = rays + shifts.view(b, n, 1, 3)
        seen = self.look(pictures.view(b * n, c, h, w)).view(b, n, 5, h // 4, w // 4)
        return points.sum((2, 3)) * seen.mean((2, 3, 4))


def test_views_that_only_add_dimensions_tell_the_others():
    model = Cameras().eval()
    found = shapes_of(first_entries(model))
    b, n, _, height, width = found["pictures"]
    assert found["turns"] == found["lenses"] == [b, n, 3, 3]
    assert found["shifts"] == [b, n, 3]
    assert height % 4 == width % 4 == 0
    assert next(InputSolver(model).solutions(1)).entries["pictures"][3:] == [32, 32]


class Unrolled(nn.Module):
    """A pair of states by number, with as many rows as the observations are seen as."""

    def __init__(self):
        super().__init__()
        self.encode, self.rnn = nn.Linear(6, 5), nn.LSTM(5, 4)

    def forward(self, seen, memory: tuple[torch.Tensor, torch.Tensor], done):
        rows = memory[0].shape[1]
        steps = self.encode(seen).reshape(-1, rows, 5)
        found = []
        for x, d in zip(steps, done.reshape(-1, rows), strict=False):
            kept = (1.0 - d).view(1, -1, 1)
            out, memory = self.rnn(x.unsqueeze(0), (kept * memory[0], kept * memory[1]))
            found.append(out)
        return torch.cat(found)


def test_what_is_annotated_as_several_tensors_is_taken_apart_by_number():
    entries = next(InputSolver(Unrolled().eval()).solutions(1)).entries
    steps, rows, _ = entries["seen"]
    assert entries["memory"] == [[1, rows, 4], [1, rows, 4]]
    assert entries["done"] == [steps, rows]


class Docking(nn.Module):
    def __init__(self):
        super().__init__()
        self.atom, self.pair = nn.Embedding(20, 4), nn.Linear(5, 1)

    def forward(self, kinds, pos, pocket_pos):
        far = torch.cdist(pos, pocket_pos).amin(-1, keepdim=True)
        return self.pair(torch.cat([self.atom(kinds), far], -1))


def test_places_between_which_distances_are_taken_are_numbers():
    entries = first_entries(Docking())
    batch, atoms, axes = entries["pos"]
    assert entries["kinds"]["shape"] == [batch, atoms]
    assert (entries["pocket_pos"][0], entries["pocket_pos"][2]) == (batch, axes)


class Mixer(nn.Module):
    """What has features changes their place with that of the steps."""

    def __init__(self):
        super().__init__()
        self.mix, self.time = nn.Linear(1 + 3, 8), nn.Linear(24, 12)

    def forward(self, past, known):
        return self.time(self.mix(torch.cat([past.unsqueeze(-1), known], -1)).transpose(1, 2))


def test_features_change_places_with_steps():
    found = shapes_of(first_entries(Mixer()))
    assert found["past"][1:] == [24]
    assert found["known"][1:] == [24, 3]


class Asked(nn.Module):
    """Asks for a value, with pictures for which a pass with values would take long."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv3d(3, 4, 3)

    def forward(self, clip):
        x = self.conv(clip)
        return x * 2 if int(x.amax()) % 2 else x


def test_inputs_get_smaller_where_values_are_asked_for():
    solver = InputSolver(Asked().eval())
    assert next(solver.solutions()).entries["clip"][:2] == [1, 3]
    assert len(solver.budget.lines) <= 3


def test_what_no_sizes_suit_counts_once():
    reading = Reading({})
    reading.equations.add(Dim(5), {Dim(3): 1}, 1)
    reading.solve()
    assert reading.guesses.clashes == 1
