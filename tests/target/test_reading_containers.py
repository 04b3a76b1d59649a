"""What a forward tells of lists and dicts that it goes through, and of ranks where it only takes parts of tensors."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional

from modeldiagrams.target.inference.probing import Probe
from target.found_inputs import first_entries, found


def runs(model, entries):
    return Probe(model.eval()).run(entries).error is None


class Bags(nn.Module):
    """A list with an item for each table, which a loop takes by number."""

    def __init__(self):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(rows, 6) for rows in (50, 40, 30, 20))
        self.head = nn.Linear(4 * 6, 1)

    def forward(self, columns):
        rows = []
        for at, column in enumerate(columns):
            rows.append(self.tables[at](column))
        return self.head(torch.cat(rows, 1))


class Hinted(nn.Module):
    """Several tensors under one key of a dict."""

    def __init__(self):
        super().__init__()
        self.attend, self.hint = nn.MultiheadAttention(12, 2, kdim=9, vdim=9, batch_first=True), nn.Linear(5, 12)

    def forward(self, x, cond):
        context = torch.cat(cond["tokens"], dim=1)
        return self.attend(x + self.hint(cond["vector"])[:, None], context, context)[0]


class Pairs(nn.Module):
    """A dict that is gone through, like another one whose keys are read."""

    def __init__(self):
        super().__init__()
        self.table, self.out = nn.Embedding(40, 8), nn.Linear(8, 8)

    def embed(self, text):
        weights = text["keep"].unsqueeze(-1).float()
        return self.out((self.table(text["ids"]) * weights).sum(1))

    def forward(self, query, others):
        asked = self.embed(query)
        b, k, length = others["ids"].shape
        flat = {key: value.view(b * k, length) for key, value in others.items()}
        return torch.einsum("bd,bkd->bk", asked, self.embed(flat).view(b, k, -1))


class Columns(nn.Module):
    """A weight of each column, which tells no rank, beside a list."""

    def __init__(self):
        super().__init__()
        self.weight, self.kinds = nn.Parameter(torch.randn(5, 16)), nn.ModuleList([nn.Embedding(9, 16)] * 3)
        self.start, self.body = nn.Parameter(torch.zeros(1, 1, 16)), nn.TransformerEncoderLayer(16, 2, 16)

    def forward(self, kinds: list[torch.Tensor], numbers: torch.Tensor):
        rows = [table(kind).unsqueeze(1) for table, kind in zip(self.kinds, kinds, strict=False)]
        x = torch.cat([self.start.expand(numbers.size(0), -1, -1), *rows, numbers.unsqueeze(-1) * self.weight], 1)
        return self.body(x)[:, 0]


class Placed(nn.Module):
    """A table of as many places as there are steps."""

    def __init__(self):
        super().__init__()
        self.inner, self.places, self.out = nn.Linear(9, 12), nn.Embedding(40, 12), nn.Linear(12, 2)

    def forward(self, x):
        x = self.inner(x)
        return self.out(x + self.places.weight[: x.shape[1]])


class Generated(nn.Module):
    """Weights that another network makes, which are cut out of its features."""

    def __init__(self):
        super().__init__()
        self.encoder, self.head = nn.Linear(5, 8), nn.Linear(8, 2 * 3 + 3)

    def forward(self, seen, x):
        weights = self.head(self.encoder(seen).mean(1))
        return torch.einsum("boi,bni->bno", weights[:, :6].view(-1, 3, 2), x) + weights[:, 6:].unsqueeze(1)


class Durations(nn.Module):
    """How often each step is repeated, row by row."""

    def __init__(self):
        super().__init__()
        self.table, self.rnn = nn.Embedding(30, 12), nn.GRU(12, 12, batch_first=True)

    def forward(self, phones, times):
        x = self.table(phones)
        rows = [torch.repeat_interleave(row, many, dim=0) for row, many in zip(x, times, strict=True)]
        return self.rnn(nn.utils.rnn.pad_sequence(rows, batch_first=True))[0]


class Turns(nn.Module):
    """Sentences of words, whose rank only a view of all but the last dimension tells."""

    def __init__(self):
        super().__init__()
        self.words, self.rnn = nn.Embedding(50, 10), nn.GRU(10, 10, batch_first=True)

    def forward(self, talk):
        return self.rnn(self.words(talk.reshape(-1, talk.size(-1))))[1][-1].view(*talk.shape[:-1], -1)


class Rollout(nn.Module):
    """The state of a recurrent layer as a pair that is taken apart by number."""

    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(6, 9)

    def forward(self, x, lstm_state):
        x = x.view(-1, lstm_state[0].shape[1], 6)
        return self.rnn(x, (lstm_state[0] * 0.5, lstm_state[1] * 0.5))[0]


@pytest.mark.parametrize(
    "model", [Bags, Hinted, Columns, Placed, Generated, Durations], ids=lambda model: model.__name__
)
def test_the_first_entries_run(model):
    made = model()
    assert runs(made, first_entries(made))


def test_a_list_has_an_item_for_each_part():
    assert [entry["high"] for entry in first_entries(Bags())["columns"]] == [50, 40, 30, 20]


def test_a_dict_has_the_keys_of_one_like_it():
    entries = first_entries(Pairs())
    assert entries["others"].keys() == entries["query"].keys() == {"ids", "keep"}
    assert len(entries["others"]["ids"]["shape"]) == 3


def test_all_but_the_last_dimension_are_several():
    assert len(first_entries(Turns())["talk"]["shape"]) == 3


def test_a_pair_is_taken_apart_by_number():
    state = first_entries(Rollout())["lstm_state"]
    assert [len(entry) for entry in state] == [3, 3]


class Steps(nn.Module):
    """A table with fewer rows than an input usually has steps."""

    def __init__(self):
        super().__init__()
        self.places, self.inner = nn.Embedding(8, 12), nn.Linear(5, 12)

    def forward(self, x):
        _, steps, _ = x.shape
        return self.inner(x) + self.places(torch.arange(steps, device=x.device))


def test_an_input_has_no_more_steps_than_a_table_has_rows():
    assert found(Steps)["x"] == [1, 8, 5]


class Molecule(nn.Module):
    """The two ends of each edge, under a name that doesn't tell."""

    def __init__(self):
        super().__init__()
        self.kinds, self.inner, self.update = nn.Embedding(16, 12), nn.Linear(24, 12), nn.GRUCell(12, 12)

    def forward(self, atoms, bonds):
        x = self.kinds(atoms)
        source, target = bonds
        message = functional.relu(self.inner(torch.cat([x[source], x[target]], -1)))
        return self.update(torch.zeros_like(x).index_add(0, target, message), x).sum(0)


def test_ends_of_edges_are_one_tensor():
    assert found(Molecule) == {
        "atoms": {"shape": [8], "dtype": "int64", "high": 16},
        "bonds": {"shape": [2, 8], "dtype": "int64", "high": 4},
    }


class Scaled(nn.Module):
    """A weight without dimensions says nothing of ranks."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(()))
        self.inner = nn.Conv1d(24, 8, 1)

    def forward(self, signal, xs):
        out = self.inner(signal * self.scale)
        for x in xs:
            out = out + x[:, :, None]
        return out


def test_a_weight_without_dimensions_is_read():
    assert found(Scaled)["xs"] == [[1, 8], [1, 8]]


class Standardised(nn.Module):
    """Goes through a dict; what torch itself keeps of a module tells no keys."""

    def __init__(self):
        super().__init__()
        self.mean = nn.Parameter(torch.zeros(24))
        self.encoder = nn.Linear(24, 8)

    def forward(self, features):
        return sum(self.encoder(value - self.mean) for _, value in features.items())


def test_names_of_weights_are_no_keys_of_inputs():
    assert [*found(Standardised)["features"]] == ["first", "second"]


class Unbound(nn.Module):
    """Takes apart a third dimension, which PyTorch says is missing."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(6, 4)

    def forward(self, rows):
        return torch.stack([self.inner(row) for row in rows.unbind(2)])


def test_what_pytorch_says_of_a_missing_dimension_is_heard():
    probed = Probe(Unbound().eval()).run({"rows": [1, 6]})
    assert "Dimension out of range" in str(probed.error)


class Counted(nn.Module):
    def __init__(self, count=16):
        super().__init__()
        self.count, self.net = count, nn.Conv2d(3, 4, 3)
        self.merge = nn.Conv2d(4 * count, 2, 1)

    def forward(self, frames: list[torch.Tensor]):
        assert len(frames) == self.count, f"expected {self.count} frames, got {len(frames)}"
        return self.merge(torch.cat([self.net(frame) for frame in frames], 1))


def test_a_list_is_as_long_as_code_asks():
    assert len(first_entries(Counted())["frames"]) == 16
