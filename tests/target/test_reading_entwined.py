"""Inputs that depend on each other: caches and pyramids by number, complex numbers, sparse matrices, trees."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from modeldiagrams.target.inference.input_solver import InputSolver
from target.found_inputs import first_entries, found


class Voices(nn.Module):
    """Rows of ids that are joined along their steps, which only a recurrent layer tells."""

    def __init__(self):
        super().__init__()
        self.text, self.codes = nn.Embedding(30, 12), nn.Embedding(40, 12)
        self.rnn = nn.LSTM(12, 12, batch_first=True)

    def forward(self, phonemes, codes, speaker):
        return self.rnn(torch.cat([self.text(phonemes), self.codes(codes) + speaker.unsqueeze(1)], dim=1))[0]


def test_layer_that_takes_no_such_rank_is_a_contradiction():
    entries = first_entries(Voices())
    assert [len(entries[name]["shape"]) for name in ("phonemes", "codes")] == [2, 2]


class Policy(nn.Module):
    """What was done before, where an episode goes on; no state of a recurrent layer, in spite of its name."""

    def __init__(self):
        super().__init__()
        self.table, self.rnn = nn.Embedding(5, 8), nn.GRU(8, 16)

    def forward(self, prev_actions, masks):
        chosen = torch.where(masks.view(-1), prev_actions.view(-1) + 1, torch.zeros_like(prev_actions.view(-1)))
        return self.rnn(self.table(chosen).unsqueeze(0))[0]


def test_whole_numbers_come_through_where():
    entries = first_entries(Policy())
    assert entries["prev_actions"]["dtype"] == "int64"
    assert entries["prev_actions"]["shape"] == entries["masks"]["shape"]
    assert len(entries["masks"]["shape"]) == 1


class Scanner(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Conv2d(2, 2, 3, padding=1)

    def forward(self, masked_kspace, maps):
        coils = torch.fft.ifft2(torch.view_as_complex(masked_kspace)) * torch.view_as_complex(maps).conj()
        return self.net(torch.view_as_real(coils.sum(1)).permute(0, 3, 1, 2))


def test_parts_of_complex_numbers():
    entries = found(Scanner)
    assert entries == {"masked_kspace": [1, 8, 32, 32, 2], "maps": [1, 8, 32, 32, 2]}


class Waves(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Conv2d(2, 4, 3)
        self.register_buffer("window", torch.hann_window(16))

    def forward(self, wave):
        parts = torch.stft(wave, 16, 8, window=self.window, return_complex=False)
        return self.net(parts.permute(0, 3, 1, 2))


def test_short_time_transform_may_give_both_parts():
    solver = InputSolver(Waves().eval())
    entries = next(solver._seeds())
    assert len(entries["wave"]) == 2
    assert all(read.is_sure for read in solver._readings.values())


class Citations(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(19, 6)

    def forward(self, papers, places, weights):
        matrix = torch.sparse_coo_tensor(places, weights, (papers.shape[0], papers.shape[0]))
        return torch.sparse.mm(matrix, self.first(papers))


def test_sparse_matrix_by_its_places():
    made = torch.sparse_coo_tensor
    entries = first_entries(Citations())
    assert (entries["papers"][1], len(entries["weights"])) == (19, 1)
    assert entries["places"]["shape"] == [2, *entries["weights"]]
    assert entries["places"]["dtype"] == "int64"
    assert torch.sparse_coo_tensor is made, "PyTorch's own function is back"


class Pyramid(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = nn.ModuleList([nn.Conv2d(channels, 8, 3, padding=1) for channels in (4, 8, 12)])

    def forward(self, features):
        out = self.heads[-1](features[2])
        for i in (1, 0):
            x = features[i]
            out = self.heads[i](x) + functional.interpolate(out, size=x.shape[-2:])
        return out


def test_pictures_that_are_taken_by_number_are_a_list():
    maps = found(Pyramid)["features"]
    assert [shape[1] for shape in maps] == [4, 8, 12]


class Cached(nn.Module):
    """A cache of several layers as one tensor: layers come before the batch."""

    def __init__(self):
        super().__init__()
        self.convs = nn.ModuleList([nn.Conv1d(6, 6, 4) for _ in range(3)])

    def forward(self, x, cache):
        for i, conv in enumerate(self.convs):
            x = x + conv(torch.cat([cache[i], x], dim=-1))
        return x


def test_items_by_number_are_no_batch():
    entries = first_entries(Cached())
    assert (entries["cache"][0], entries["cache"][1], entries["cache"][2]) == (3, entries["x"][0], 6)


class Levels(nn.Module):
    def __init__(self):
        super().__init__()
        self.gates, self.out = nn.Linear(10, 24), nn.Linear(8, 2)

    def forward(self, nodes, order):
        found = nodes.new_zeros(nodes.size(0), 8)
        for level in range(int(order.max()) + 1):
            here = order == level
            a, b, c = self.gates(nodes[here]).chunk(3, dim=1)
            found = found.masked_scatter(here[:, None], a * b + c)
        return self.out(found)


def test_rows_that_are_taken_apart_and_numbers_that_count():
    entries = found(Levels)
    assert entries["nodes"][1:] == [10]
    assert entries["order"]["dtype"] == "int64"
    assert entries["order"]["shape"] == entries["nodes"][:1]


class Around(nn.Module):
    """Neighbours by number, with a key for each dimension."""

    def __init__(self):
        super().__init__()
        self.embed, self.full = nn.Linear(9, 6), nn.Linear(12, 6)

    def forward(self, atoms, neighbours):
        n, m = neighbours.shape
        x = self.embed(atoms)
        return self.full(torch.cat([x.unsqueeze(1).expand(n, m, x.size(-1)), x[neighbours, :]], dim=2))


def test_keys_for_all_dimensions():
    entries = first_entries(Around())
    assert len(entries["atoms"]) == 2
    assert len(entries["neighbours"]["shape"]) == 2


class Placed(nn.Module):
    """Of the picture only its size is asked, so that no output can depend on it."""

    def __init__(self):
        super().__init__()
        self.out = nn.Linear(2, 3)

    def forward(self, data):
        height, width = data["image"].shape[-2:]
        return self.out(data["points"] / torch.tensor([width, height], dtype=torch.float32))


def test_inputs_whose_shape_alone_is_asked():
    solver = InputSolver(Placed().eval())
    assert solver.unused() == 1
    assert found(Placed)["data"]["image"] == [1, 3, 32, 32]


class Grouped(nn.Module):
    """Each point with those that are the nearest, taken by the numbers of rows and of points together."""

    def __init__(self):
        super().__init__()
        self.own, self.net = nn.Conv1d(12, 6, 1), nn.Conv2d(6 + 3, 6, 1)

    def forward(self, points, features):
        made, places = self.own(torch.cat([points, features], 1)), points.transpose(1, 2)
        nearest = torch.cdist(places, places).topk(4, dim=-1, largest=False)[1]
        rows = torch.arange(nearest.size(0))[:, None, None]
        around = places[rows, nearest] - places.unsqueeze(2)
        near = made.transpose(1, 2)[rows, nearest]
        return self.net(torch.cat([around, near], -1).permute(0, 3, 1, 2)).amax(-1)


def test_numbers_of_several_tensors_choose_together():
    entries = first_entries(Grouped())
    assert [entry[:2] for entry in entries.values()] == [[7, 3], [7, 9]]


class Remembering(nn.Module):
    """Frames and their masks are joined after rows and steps became one."""

    def __init__(self):
        super().__init__()
        self.net = nn.Conv2d(4, 8, 3, padding=1)

    def forward(self, frames, masks):
        batch, steps, *_ = frames.shape
        made = self.net(torch.cat([frames.flatten(0, 1), masks.flatten(0, 1)], 1))
        return made.view(batch, steps, *made.shape[1:])


def test_parts_of_equal_products_are_equal():
    entries = first_entries(Remembering())
    assert entries["frames"][:2] == entries["masks"][:2]
    assert len(entries["frames"]) == len(entries["masks"]) == 5
