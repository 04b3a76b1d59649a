"""Rows that are put into places of an empty canvas: what says how large it is, and where they go."""

from __future__ import annotations

import torch
from torch import nn

from target.found_inputs import first_entries


class Scattered(nn.Module):
    """Features of points by batch, row and column; how many maps there are is a plain number."""

    def __init__(self):
        super().__init__()
        self.embed, self.out = nn.Linear(9, 6), nn.Conv2d(6, 2, 3, padding=1)

    def forward(self, points, counts, places, batch_size):
        valid = torch.arange(points.size(1))[None] < counts[:, None]
        features = (self.embed(points) * valid.unsqueeze(-1).type_as(points)).amax(1)
        canvas = features.new_zeros(batch_size, 16 * 16, 6)
        canvas[places[:, 0], places[:, 1] * 16 + places[:, 2]] = features
        return self.out(canvas.transpose(1, 2).reshape(batch_size, 6, 16, 16))


class Ranged(nn.Module):
    """A number of steps that a loop counts up to."""

    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(5, 5)

    def forward(self, x, horizon):
        found = []
        for _ in range(horizon):
            x = self.cell(x)
            found.append(x)
        return torch.stack(found)


def test_a_number_that_sizes_are_made_of_is_plain():
    assert first_entries(Scattered())["batch_size"] == {"value": 4}
    assert "value" in first_entries(Ranged())["horizon"]


def test_what_is_put_somewhere_tells_where():
    entries = first_entries(Scattered())
    assert entries["places"]["dtype"] == "int64"
    assert entries["places"]["shape"] == [entries["points"][0], 3]
    assert entries["places"]["high"] <= 4  # of a row as of a column: 15 * 16 + 15 is the last place


def test_what_numbers_of_places_are_compared_with_is_whole():
    assert first_entries(Scattered())["counts"]["dtype"] == "int64"


class Molecules(nn.Module):
    """Neighbours of each atom in a view that has the sizes of what chooses them, and pairs of plain numbers."""

    def __init__(self):
        super().__init__()
        self.bonds, self.out = nn.Linear(9, 6), nn.Linear(6 + 4, 2)

    def forward(self, graph):
        atoms, bonds, near, scope = graph
        message = self.bonds(bonds)
        message = message.index_select(0, near.view(-1)).view(*near.size(), message.size(-1)).sum(dim=1)
        atoms = self.out(torch.cat([message, atoms], dim=1))
        return torch.stack([atoms.narrow(0, start, count).sum(0) for start, count in scope])


def test_a_view_of_all_sizes_of_another_shape_keeps_its_rank():
    atoms, _, near, _ = first_entries(Molecules())["graph"]
    assert atoms[-1] == 4
    assert len(near["shape"]) == 2


def test_what_items_are_taken_from_on_is_a_plain_number():
    assert first_entries(Molecules())["graph"][3] == [[{"value": 1}, {"value": 2}]] * 2
