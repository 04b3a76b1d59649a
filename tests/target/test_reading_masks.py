"""Masks by what a forward does with them: what is only reckoned with is of numbers, what chooses is of booleans."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from target.found_inputs import first_entries


class Notes(nn.Module):
    """A loss of each step, of which a mask leaves some out."""

    def __init__(self):
        super().__init__()
        self.notes, self.out = nn.Embedding(30, 12), nn.Linear(12, 30)

    def forward(self, x, target, loss_mask):
        loss = functional.cross_entropy(self.out(self.notes(x)).transpose(1, 2), target, reduction="none")
        return torch.sum(loss * loss_mask) / torch.sum(loss_mask)


class Padded(Notes):
    """The same with a mask that is cast, which tells that it holds no numbers yet."""

    def forward(self, x, loss_mask):
        return self.out(self.notes(x)).sum(-1) * loss_mask.float()


class Segments(nn.Module):
    """A mask for all steps of all segments, whose steps that count become one text; and one number for all."""

    def __init__(self):
        super().__init__()
        self.words, self.kind = nn.Embedding(50, 12), nn.Embedding(7, 6)
        self.encoder = nn.LSTM(12, 8, batch_first=True)
        self.out = nn.Linear(8 + 6, 2)

    def forward(self, ids, mask, genre, starts, ends):
        text, _ = self.encoder(self.words(ids))
        text = text[mask]
        lengths = torch.bucketize(ends - starts, torch.arange(4))
        spans = (text[starts] + text[ends])[lengths.argsort()][:4]
        pairs = (spans[:, None] + spans[None])[:4, :4]
        return self.out(torch.cat([pairs, self.kind(genre).expand(4, 4, -1)], -1))


class Letters(nn.Module):
    """A mask of rows of which nobody says how many dimensions they have, but that both have the same."""

    def __init__(self):
        super().__init__()
        self.out = nn.Linear(9, 2)

    def forward(self, letters, seen):
        shown = functional.one_hot(letters, 9).float() * seen.unsqueeze(-1)
        return self.out(shown[:, 0]) + letters.shape[2]


def test_a_mask_that_is_only_multiplied_holds_numbers():
    assert isinstance(first_entries(Notes())["loss_mask"], list)


def test_what_is_right_has_the_steps_of_what_is_scored():
    entries = first_entries(Notes())
    assert entries["x"] == entries["target"]
    assert entries["x"]["shape"] == entries["loss_mask"]


def test_a_mask_that_is_cast_stays_one():
    assert first_entries(Padded())["loss_mask"]["dtype"] == "bool"


def test_a_mask_that_chooses_steps_has_the_shape_of_rows_and_steps():
    entries = first_entries(Segments())
    assert entries["mask"] == {"shape": entries["ids"]["shape"], "dtype": "bool", "low": 1, "high": 2}
    assert {entries[name]["dtype"] for name in ("starts", "ends")} == {"int64"}


def test_what_is_expanded_to_numbers_is_one_row_for_all():
    assert first_entries(Segments())["genre"]["shape"] == [1]


def test_a_mask_for_each_row_of_features_has_the_rank_without_these():
    entries = first_entries(Letters())
    assert entries["seen"] == entries["letters"]["shape"]
