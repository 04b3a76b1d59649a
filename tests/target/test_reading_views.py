"""What views, waves, losses and lists of lists tell of the inputs of a forward that is read."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from modeldiagrams.target.inference.probing import Probe
from target.found_inputs import first_entries


def runs(model, entries):
    return Probe(model.eval()).run(entries).error is None


class Odometry(nn.Module):
    """Rows and pairs of frames are joined for a layer, and taken apart after it; another input only is joined."""

    def __init__(self):
        super().__init__()
        self.match, self.flow = nn.Conv2d(18, 6, 1), nn.Conv2d(6 + 10, 2, 3, padding=1)

    def forward(self, context, cost):
        rows, pairs, _, height, width = context.shape
        cost = self.match(cost.view(rows * pairs, -1, height, width))
        both = torch.cat([cost, context.view(rows * pairs, -1, height, width)], 1)
        return self.flow(both).view(rows, pairs, -1, height, width)


class Sweep(nn.Module):
    """Cameras as square matrices, of which parts are cut out; a grid whose points are counted."""

    def forward(self, view, camera):
        height, width = view.shape[-2:]
        steps = torch.arange(height, dtype=view.dtype), torch.arange(width, dtype=view.dtype)
        y, x = torch.meshgrid(*steps, indexing="ij")
        points = torch.stack((x.reshape(-1), y.reshape(-1), torch.ones(height * width)))
        inner = torch.inverse(camera)
        moved = torch.matmul(inner[:, :3, :3], points.unsqueeze(0).repeat(view.shape[0], 1, 1)) + inner[:, :3, 3:4]
        return functional.conv2d(view, torch.ones(1, 3, 1, 1)).flatten(2) * moved


class Speller(nn.Module):
    """Waves, and the letters that were said."""

    def __init__(self):
        super().__init__()
        self.rnn, self.letters = nn.GRU(129, 8, batch_first=True), nn.Linear(8, 27)

    def forward(self, said, said_length, transcript, transcript_length):
        bands = torch.stft(said, 256, 64, window=torch.ones(256), return_complex=True).abs()
        scores = self.letters(self.rnn(bands.transpose(1, 2))[0]).log_softmax(-1)
        return scores, functional.ctc_loss(scores.transpose(0, 1), transcript, said_length, transcript_length)


class Grower(nn.Module):
    """A transposed convolution beside what it is joined with."""

    def __init__(self):
        super().__init__()
        self.down, self.up = nn.Conv2d(3, 8, 2, 2), nn.ConvTranspose2d(8, 5, 2, 2)
        self.out = nn.Conv2d(5 + 3 + 4, 2, 1)

    def forward(self, x, hint):
        return self.out(torch.cat([self.up(self.down(x)), x, hint], 1))


class Inpainter(nn.Module):
    """What a convolution makes is as large as its input, and so is the mask."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, padding=1)

    def forward(self, picture, hole):
        return self.stem(picture) * hole.unsqueeze(1)


class Hinted(nn.Module):
    """A list that is added to another one, in a dict that also takes the result."""

    def __init__(self):
        super().__init__()
        self.stem, self.rest = nn.Conv2d(3 + 2, 4, 3, padding=1), nn.Conv2d(3, 4, 1)

    def forward(self, x, state):
        state["features"] = self.stem(torch.cat([x] + state["hints"], dim=1))
        return state["features"] + self.rest(x)


def test_a_view_of_joined_sizes_tells_what_was_joined():
    entries = first_entries(Odometry())
    (*front, _, height, width) = entries["context"]
    assert entries["context"][2] == 10
    assert entries["cost"] == [*front, 18, height, width]
    assert runs(Odometry(), entries)


def test_cut_matrices_are_of_rows_and_columns_of_their_own():
    entries = first_entries(Sweep())
    assert entries["camera"] == [7, 4, 4]
    assert runs(Sweep(), entries)


def test_waves_are_long_and_texts_are_made_of_letters():
    entries = first_entries(Speller())
    assert len(entries["said"]) == 2
    assert entries["said"][1] >= 256
    assert entries["transcript"]["high"] == 27
    assert runs(Speller(), entries)


def test_a_transposed_convolution_tells_channels():
    assert first_entries(Grower())["hint"][:2] == [7, 4]


def test_a_padded_convolution_keeps_sides():
    entries = first_entries(Inpainter())
    assert entries["hole"] == [7, *entries["picture"][2:]]
    assert runs(Inpainter(), entries)


def test_what_is_added_to_a_list_is_one():
    entries = first_entries(Hinted())
    assert entries["state"].keys() == {"hints"}
    assert entries["state"]["hints"][0][:2] == [7, 2]
    assert runs(Hinted(), entries)


class Clicked(nn.Module):
    """Corners of boxes that lie flat, and how much of the picture counts."""

    def __init__(self):
        super().__init__()
        self.stem, self.corner = nn.Conv2d(3, 8, 3, padding=1), nn.Linear(2, 8)

    def forward(self, picture, regions, extent):
        picture = self.stem(picture)[..., : extent[0], : extent[1]]
        return picture.mean((2, 3)) + self.corner(regions.reshape(-1, 2, 2)).mean((0, 1))


def test_what_is_reshaped_at_once_lies_flat_and_ends_of_slices_are_numbers():
    entries = first_entries(Clicked())
    assert entries["regions"] == [7, 4]
    assert entries["extent"] == {"shape": [2], "dtype": "int64", "low": 4, "high": 5}
    assert runs(Clicked(), entries)


class Rewarded(nn.Module):
    """One number of each row, in a column or not."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(9, 4)

    def forward(self, before, going):
        return self.table(torch.where(going.view(-1), before.view(-1), 0))


def test_a_view_of_everything_is_no_single_number():
    entries = first_entries(Rewarded())
    assert [entries[name]["shape"] for name in entries] == [[7], [7]]
