"""Tensors that code joins, packs and views: the number of their elements tells sizes and ranks."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from modeldiagrams.options.parsing import parse_options
from modeldiagrams.target import resolve
from modeldiagrams.target.inference.input_solver import InputSolver
from target.found_inputs import first_entries, found


def shapes_of(entries):
    return {name: entry["shape"] if isinstance(entry, dict) else entry for name, entry in entries.items()}


def solution(model):
    """What the first try finds."""
    return shapes_of(next(InputSolver(model.eval()).solutions(1)).entries)


class Spelled(nn.Module):
    """Only the later view tells that letters are those of each word."""

    def __init__(self):
        super().__init__()
        self.letters, self.words, self.mix = nn.Embedding(20, 6), nn.Embedding(50, 4), nn.Linear(12, 3)

    def forward(self, words, letters):
        rows, steps = words.shape
        spelled = self.letters(letters).view(-1, 9, 6).amax(1).add(1).view(rows, steps, -1)
        return self.mix(torch.cat([self.words(words), spelled, spelled[..., :2]], -1))


def test_a_later_view_tells_what_an_earlier_one_joined():
    shapes = shapes_of(first_entries(Spelled()))
    assert shapes["letters"] == [*shapes["words"], 9]


class Looked(nn.Module):
    """Nothing tells what the first dimension was joined of."""

    def __init__(self):
        super().__init__()
        self.embed, self.out = nn.Embedding(20, 6), nn.Linear(54, 3)

    def forward(self, ids):
        return self.out(self.embed(ids).view(-1, 9 * 6))


def test_rows_that_nothing_tells_more_of_are_the_batch():
    assert solution(Looked()) == {"ids": [1, 9]}


class Frames(nn.Module):
    """The rows of a second input are those of all steps of the first one."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(5, 4), nn.Linear(3, 4)

    def forward(self, clips, frames):
        rows, steps, _ = clips.shape
        joined = self.first(clips).view(rows * steps, 4) + self.second(frames)
        return joined.view(rows, steps, 4).mean(1)


def test_rows_may_be_those_of_all_steps():
    shapes = shapes_of(first_entries(Frames()))
    rows, steps, _ = shapes["clips"]
    assert shapes["frames"] == [rows * steps, 3]
    assert solution(Frames()) == {"clips": [1, 16, 5], "frames": [16, 3]}


class Packed(nn.Module):
    """Lengths of letters in words, and of words in sentences, in any order."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(20, 6)
        self.inner, self.outer = nn.GRU(6, 5, batch_first=True), nn.GRU(5, 4, batch_first=True)

    def forward(self, letters, letters_in_words, words_in_rows):
        rows, steps, count = letters.shape
        x = self.embed(letters.view(rows * steps, count))
        packed = pack_padded_sequence(x, letters_in_words.view(-1).cpu(), batch_first=True, enforce_sorted=False)
        words = self.inner(packed)[1][0].view(rows, steps, -1)
        packed = pack_padded_sequence(words, words_in_rows.tolist(), batch_first=True, enforce_sorted=False)
        return pad_packed_sequence(self.outer(packed)[0], batch_first=True, total_length=steps)[0]


def test_there_are_as_many_lengths_as_rows_that_are_packed():
    shapes = shapes_of(first_entries(Packed()))
    assert shapes["letters_in_words"] == shapes["letters"][:2]
    assert shapes["words_in_rows"] == shapes["letters"][:1]
    assert solution(Packed())["letters_in_words"] == [1, 16]


class Sorted(nn.Module):
    """What is put in the order of another input has as many items as that."""

    def __init__(self):
        super().__init__()
        self.out = nn.Linear(5, 4)

    def forward(self, points, scores):
        return self.out(points)[scores.argsort(descending=True)]


def test_an_order_has_as_many_items_as_what_is_sorted():
    shapes = shapes_of(first_entries(Sorted()))
    assert shapes["scores"] == shapes["points"][:1]


class Integrated(nn.Module):
    """A time by its number is one number, whatever it is expanded to."""

    def __init__(self):
        super().__init__()
        self.drift = nn.Linear(5, 4)

    def forward(self, times, start):
        x = start
        for step in range(len(times) - 1):
            now = times[step].expand(x.size(0), 1)
            x = x + (times[step + 1] - times[step]) * self.drift(torch.cat([x, now], -1))
        return x


def test_what_is_expanded_to_everything_is_one_number():
    shapes = shapes_of(first_entries(Integrated()))
    assert len(shapes["times"]) == 1
    assert shapes["start"][1:] == [4]


class Windowed(nn.Module):
    """By names alone, many sizes would be tried."""

    def __init__(self):
        super().__init__()
        self.left, self.right, self.out = nn.Linear(5, 6), nn.Linear(7, 6), nn.Linear(6 * 9, 3)

    def forward(self, x, y):
        x, y = self.left(x), self.right(y)
        return self.out((x + y).view(x.shape[0], -1)) + y.shape[1]


def test_what_suits_all_uses_is_tried_first():
    target = resolve(parse_options({"model": f"{__name__}.Windowed"}).call)
    assert len(target.tried) == 2  # with sizes of their own, and with usual ones
    assert found(Windowed) == {"x": [1, 9, 5], "y": [1, 9, 7]}


class Agents(nn.Module):
    """Values of agents are viewed in rows of which only the states beside them tell how many there are."""

    def __init__(self):
        super().__init__()
        self.mix = nn.Linear(6, 4)

    def forward(self, values, states):
        rows = values.size(0)
        weights = self.mix(states.reshape(-1, 6)).view(-1, 4, 1)
        return torch.bmm(values.view(-1, 1, 4), weights).view(rows, -1, 1)


def test_items_of_rows_may_be_those_of_steps():
    shapes = shapes_of(first_entries(Agents()))
    assert shapes["states"][-1] == 6
    assert solution(Agents()).keys() == {"values", "states"}


class Flat(nn.Module):
    """What is flattened may be a picture, as its name says."""

    def __init__(self):
        super().__init__()
        self.out = nn.Linear(784, 3)

    def forward(self, image):
        return self.out(image.view(image.size(0), -1))


def test_what_is_flattened_stays_what_its_name_says():
    assert len(shapes_of(first_entries(Flat()))["image"]) == 4


class Scored(nn.Module):
    """A number of the model's own is no value of an input."""

    def __init__(self):
        super().__init__()
        self.margin, self.embed = nn.Parameter(torch.tensor([2.0])), nn.Embedding(9, 4)

    def forward(self, triples):
        head, relation, tail = self.embed(triples[:, 0]), self.embed(triples[:, 1]), self.embed(triples[:, 2])
        return self.margin.item() - torch.norm(head + relation - tail, dim=1)


class Unread(nn.Module):
    """No output depends on an input that forward does nothing with."""

    def __init__(self):
        super().__init__()
        self.embed, self.out = nn.Embedding(9, 4), nn.Linear(4, 3)

    def forward(self, user, items):  # noqa: ARG002
        return self.out(self.embed(items).sum(1))


class Heads(nn.Module):
    """A layer that doesn't fit the one before it, whatever the inputs are, because of an argument."""

    def __init__(self, taken, classes):
        super().__init__()
        self.first, self.head = nn.Conv2d(3, 24, 3), nn.Conv2d(taken, classes, 1)

    def forward(self, image):
        return self.head(self.first(image))


class Usual(nn.Module):
    """The same with arguments whose names say more than that."""

    def __init__(self, in_channels, num_classes):
        super().__init__()
        self.first, self.head = nn.Conv2d(3, 24, 3), nn.Conv2d(in_channels, num_classes, 1)

    def forward(self, image):
        return self.head(self.first(image))


def tries(model_class):
    return resolve(parse_options({"model": f"{__name__}.{model_class.__name__}"}).call).tried


def test_numbers_of_the_model_are_known():
    entries = first_entries(Scored())["triples"]
    assert (entries["shape"][1], entries["dtype"], entries["high"]) == (3, "int64", 9)


def test_no_better_inputs_are_looked_for_where_forward_leaves_some_out():
    assert len(tries(Unread)) <= 2


@pytest.mark.parametrize("class_", [Heads, Usual])
def test_a_layer_that_no_input_fits_is_made_anew_at_once(class_):
    assert [line.partition(":")[0] for line in tries(class_)][1:] == ["with what fits head"] * 2


class Masked(nn.Module):
    """What doesn't suit a mask doesn't end what is read."""

    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        self.encode, self.out = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False), nn.Linear(8 * 3, 4)

    def forward(self, x, mask, extra):
        seen = mask.size(2)
        return self.out(torch.cat([self.encode(x, src_key_padding_mask=mask), extra], -1)) + seen


def test_reading_goes_on_where_a_mask_does_not_suit():
    assert shapes_of(first_entries(Masked()))["extra"][-1] == 16


class Measured(nn.Module):
    """What doesn't suit a size that code asks for doesn't end what is read."""

    def __init__(self):
        super().__init__()
        self.embed, self.out = nn.Embedding(9, 4), nn.Linear(6, 4)

    def forward(self, rows, words):
        hidden = self.out(rows.flatten(1))
        try:
            width = hidden.size(2)
        except IndexError:
            width = hidden.size(1)
        return self.embed(words).sum(1) * hidden + width


def test_reading_goes_on_where_a_size_is_not_there():
    entries = first_entries(Measured())
    assert entries["words"]["high"] == 9
