"""A forward read once with symbolic tensors: the entries that follow carry the model through its first pass.

Long because each way to write a forward has a small model of its own.
"""

from __future__ import annotations

import logging

import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from modeldiagrams.target.inference.input_solver import InputSolver
from modeldiagrams.target.inference.probing import Probe
from modeldiagrams.target.inference.symbolic.equations import Equations
from modeldiagrams.target.inference.symbolic.shapes import ClashError, Dim, Row, Shape, closed, same, unified
from target.found_inputs import first_entries


class Tides(nn.Module):
    """A map, a sea mask of the same size, and a row of numbers that scales channels."""

    def __init__(self):
        super().__init__()
        self.stem, self.scale, self.head = nn.Conv2d(5, 12, 3, padding=1), nn.Linear(6, 24), nn.Linear(12, 2)

    def forward(self, field, sea, station):
        x = self.stem(torch.cat([field, sea], 1))
        a, b = self.scale(station).chunk(2, -1)
        return self.head((x * a[:, :, None, None] + b[:, :, None, None]).mean((2, 3)))


class Orbits(nn.Module):
    """Sizes of three inputs that only a system of two sums tells."""

    def __init__(self):
        super().__init__()
        self.pair, self.body = nn.Linear(2 * 6 + 3, 10), nn.Linear(6 + 10, 6)

    def forward(self, bodies, incidence, kinds):
        a = torch.einsum("bne,bnd->bed", incidence, bodies)
        message = self.pair(torch.cat([a, a.flip(1), kinds], 2))
        return self.body(torch.cat([bodies, incidence.matmul(message)], -1))


class Ward(nn.Module):
    """Notes with their lengths in a column, vital signs as a list, and a dict of the stay."""

    def __init__(self):
        super().__init__()
        self.words, self.rnn = nn.Embedding(40, 12), nn.GRU(12, 9, batch_first=True)
        self.signs = nn.ModuleList([nn.Linear(4, 9), nn.Linear(7, 9), nn.Linear(2, 9)])
        self.unit, self.out = nn.Embedding(5, 9), nn.Linear(9, 1)

    def forward(self, notes, lengths, signs, stay):
        packed = pack_padded_sequence(self.words(notes), lengths.squeeze(-1), True, enforce_sorted=False)
        hidden, _ = pad_packed_sequence(self.rnn(packed)[0], batch_first=True)
        sums = torch.stack([layer(s) for layer, s in zip(self.signs, signs, strict=True)]).sum(0)
        return self.out(hidden.mean(1) + sums + self.unit(stay["unit"]))


class Traffic(nn.Module):
    """A graph with pairs along the last dimension, and an object that has its parts as attributes."""

    def __init__(self):
        super().__init__()
        self.near, self.update = nn.Linear(2 * 7 + 3, 8), nn.GRUCell(8, 7)

    def forward(self, road):
        start, end = road.links.unbind(-1)
        m = self.near(torch.cat([road.x[start], road.x[end], road.length], 1))
        return self.update(torch.zeros(road.x.size(0), 8).index_add(0, end, m), road.x)


class Robot(nn.Module):
    """Its state is a pair of what its cell takes."""

    def __init__(self):
        super().__init__()
        self.eye, self.cell, self.act = nn.Conv2d(4, 6, 5, 2), nn.LSTMCell(6 + 5, 13), nn.Linear(13, 5)

    def forward(self, frame, last, memory):
        h, c = memory
        if frame.ndim != 4:
            raise ValueError("frames have four dimensions")
        h, c = self.cell(torch.cat([self.eye(frame).amax((-1, -2)), functional.one_hot(last, 5)], 1), (h, c))
        return self.act(h), (h, c)


class Choir(nn.Module):
    """Attention over a memory, with masks of both."""

    def __init__(self):
        super().__init__()
        self.attend, self.rows = nn.MultiheadAttention(16, 4, batch_first=True), nn.Linear(10, 16)

    def forward(self, voices, hall, silent):
        b, n, _ = voices.shape
        found, _ = self.attend(self.rows(voices), hall, hall, key_padding_mask=silent)
        return found.view(b, n, 4, 4).transpose(1, 2)


@pytest.mark.parametrize(
    ("model", "sizes"),
    [
        (Tides(), {"station": 6}),
        (Orbits(), {"bodies": 6, "kinds": 3}),
        (Ward(), {}),
        (Traffic(), {}),
        (Robot(), {}),
        (Choir(), {"voices": 10, "hall": 16}),
    ],
)
def test_first_entries_carry_a_model_through(model, sizes):
    entries = first_entries(model)
    assert {name: entries[name][-1] for name in sizes} == sizes
    assert Probe(model).run(entries).error is None


class Beam(nn.Module):
    """A state of two tensors that only the layer takes apart."""

    def __init__(self):
        super().__init__()
        self.embed, self.rnn = nn.Embedding(30, 6), nn.LSTM(6, 5, 2)

    def forward(self, y, hidden):
        return self.rnn(self.embed(y)[None], hidden)


class Windows(nn.Module):
    """A weight for each channel tells no rank."""

    def __init__(self):
        super().__init__()
        self.scale, self.embed = nn.Parameter(torch.ones(3)), nn.Linear(4, 6)

    def forward(self, x):
        return self.embed((x * self.scale).permute(0, 2, 1).unfold(-1, 4, 2))


class Organ(nn.Module):
    """A mask of a volume, cast to what it is joined with."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv3d(2, 4, 3, padding=1)

    def forward(self, volume, mask):
        return self.stem(torch.cat([volume, mask.to(volume.dtype)], 1))


def test_a_state_of_two_tensors_is_no_tensor():
    assert first_entries(Beam())["hidden"] == [[2, 7, 5], [2, 7, 5]]


def test_a_weight_of_one_dimension_tells_the_last_one():
    rows, steps, channels = first_entries(Windows())["x"]
    assert (rows, channels) == (7, 3)
    assert steps > 3


def test_a_mask_is_one_whatever_its_rank():
    mask = first_entries(Organ())["mask"]
    assert mask["dtype"] == "bool"
    assert mask["shape"][:2] == [7, 1]
    assert len(mask["shape"]) == 5


def test_parts_are_counted_by_the_layers_beside_them():
    assert [entry[-1] for entry in first_entries(Ward())["signs"]] == [4, 7, 2]


class Switch(nn.Module):
    """A comparison that nobody demands decides nothing of the rank."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(6, 3)

    def forward(self, x):
        if x.dim() == 1:
            x = x.unsqueeze(0)
        return self.layer(x).softmax(-1)


def test_comparisons_without_consequences_tell_no_rank():
    assert len(first_entries(Switch())["x"]) == 2


class Failing(nn.Module):
    """What was read before something fails is still known."""

    def __init__(self):
        super().__init__()
        self.early, self.late = nn.Conv1d(9, 4, 3), nn.Linear(4, 2)

    def forward(self, x):
        y = self.early(x)
        if not isinstance(y.tolist()[0], list):
            raise TypeError
        return self.late(y.mean(-1))


def test_what_was_read_before_a_failure_is_kept():
    assert first_entries(Failing())["x"][1] == 9


def test_reading_leaves_the_model_as_it_was():
    model = Choir()
    first_entries(model)
    assert "forward" not in vars(model.attend)
    assert (
        InputSolver(model)._probe.read(dict.fromkeys(["voices", "hall", "silent"]), InputSolver(model).sizes, str)
        is not None
    )


def test_shapes_of_unknown_rank_become_one():
    a, b = Dim(), Dim(8)
    left, right = Shape((a,), Row(), ()), Shape((), Row(), (b,))
    unified(left, right)
    assert left.rank is None
    right.of_rank(2)
    assert (left.rank, left.at(-1).value) == (2, 8)
    assert right.at(0) is a.end()


def test_a_dimension_is_put_in_from_either_side():
    open_ = Shape((Dim(2),), Row(), (Dim(3),))
    assert [dim.value for dim in open_.inserted(-2, Dim(9)).of_rank(4).dims()] == [2, 0, 9, 3]
    assert [dim.value for dim in closed(Dim(2), Dim(3)).inserted(1, Dim(9)).dims()] == [2, 9, 3]


def test_sizes_that_contradict_each_other_clash():
    with pytest.raises(ClashError):
        same(Dim(2), Dim(3))
    with pytest.raises(ClashError):
        closed(Dim()).of_rank(2)


def test_equations_tell_sizes_and_what_nothing_tells_is_shared():
    equations, a, b, c = Equations(), Dim(), Dim(), Dim()
    equations.add(Dim(26), {a: 1, b: 1})
    equations.add(Dim(10), {b: 1, c: 1})
    equations.add(Dim(14), {c: 2}, 6)
    equations.solve()
    assert (a.value, b.value, c.value) == (20, 6, 4)
    x, y = Dim(), Dim()
    equations = Equations()
    equations.add(Dim(9), {x: 1, y: 1})
    equations.solve()
    assert x.value + y.value == 9
    assert min(x.value, y.value) >= 4


class Logbook(nn.Module):
    """Makes its own state, which tells how many of the cell's features are left for the input."""

    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(11, 6)

    def init_state(self, batch_size):
        return {"pages": torch.zeros(batch_size, 5, 4), "hidden": torch.zeros(batch_size, 6)}

    def forward(self, x, state):
        return self.cell(torch.cat([x, state["pages"].mean(1)], 1), state["hidden"])


def test_states_of_the_models_own_are_what_they_are():
    rows = InputSolver(Logbook()).sizes.batch
    assert first_entries(Logbook()) == {"x": [rows, 7], "state": {"pages": [rows, 5, 4], "hidden": [rows, 6]}}


class LastStep(nn.Module):
    """Two indices together choose one step of each row; a word tells what comes out."""

    def __init__(self):
        super().__init__()
        self.rnn, self.at = nn.GRU(5, 8, batch_first=True), nn.Linear(3, 8)

    def forward(self, steps, place, how):
        hidden = self.rnn(steps)[0]
        last = hidden[torch.arange(steps.size(0)), place] + self.at(torch.ones(steps.size(0), 3))
        if how == "row":
            return last
        if how == "sum":
            return last.sum(-1)
        raise ValueError(how)


def test_several_indices_choose_together_and_words_stay_words():
    entries = first_entries(LastStep())
    assert entries["how"] == {"value": "row"}
    assert entries["place"]["shape"] == entries["steps"][:1]
    assert Probe(LastStep()).run(entries).error is None


class Refused(nn.Module):
    """Multiplies weights as no shapes allow."""

    def __init__(self):
        super().__init__()
        self.table, self.layer = nn.Parameter(torch.randn(3, 5)), nn.Linear(8, 8)

    def forward(self, x):
        return self.layer(x) + torch.mm(self.table, self.table)


def test_what_fails_is_not_logged(caplog):
    with caplog.at_level("DEBUG"):
        logger = logging.getLogger("torch._subclasses.fake_tensor")
        logger.addHandler(caplog.handler)
        try:
            first_entries(Refused())
        finally:
            logger.removeHandler(caplog.handler)
    assert not caplog.records
