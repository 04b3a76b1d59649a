"""Modules that are made up for a constructor suit how forward calls them, and what it does with what they give."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn

from modeldiagrams.options.parsing import parse_options
from modeldiagrams.target import resolve
from modeldiagrams.target.inference.constructor import solved_arguments
from modeldiagrams.target.objects import Attention, Branches, Conditioned, Mean, Patches, PictureNetwork


class Tokens(nn.Module):
    """What the part gives are sequences, of which one step is taken."""

    def __init__(self, vision_tower):
        super().__init__()
        self.vision_tower = vision_tower
        self.classifier = nn.Linear(24, 5)

    def forward(self, images):
        tokens = self.vision_tower(images)
        b, n, _ = tokens.shape
        return self.classifier(tokens.view(b, n, 24)[:, 0])


class Quantized(nn.Module):
    """A table whose rows are taken by number, between two modules that take and give pictures."""

    def __init__(self, analysis, synthesis, codes):
        super().__init__()
        self.analysis, self.synthesis, self.codes = analysis, synthesis, codes

    def forward(self, images):
        z = self.analysis(images)
        b, c, h, w = z.shape
        near = torch.cdist(z.permute(0, 2, 3, 1).reshape(-1, c), self.codes.weight).argmin(1)
        return self.synthesis(self.codes(near).view(b, h, w, c).permute(0, 3, 1, 2))


class Compared(nn.Module):
    """A copy of a module is called, too; both give several maps."""

    def __init__(self, student):
        super().__init__()
        self.student, self.teacher = student, copy.deepcopy(student)
        self.align = nn.ModuleList([nn.Conv2d(8, 8, 1), nn.Conv2d(12, 12, 1)])

    def forward(self, images):
        pairs = zip(self.align, self.student(images), self.teacher(images), strict=False)
        return sum(nn.functional.mse_loss(align(s), t) for align, s, t in pairs)


class Masked(nn.Module):
    def __init__(self, encoder, decoder, src_embed, tgt_embed):
        super().__init__()
        self.encoder, self.decoder, self.src_embed, self.tgt_embed = encoder, decoder, src_embed, tgt_embed

    def forward(self, src, tgt, src_mask, tgt_mask):
        return self.decoder(self.tgt_embed(tgt), self.encoder(self.src_embed(src), src_mask), src_mask, tgt_mask)


class AutoencoderOfEncoder(nn.Module):
    """Is given an encoder, and so is none."""

    def __init__(self, encoder):
        super().__init__()
        self.encoder = encoder

    def forward(self, x):
        return self.encoder(x)


class Momentum(nn.Module):
    """A function or class makes a network with so many classes."""

    def __init__(self, base_encoder, dim=16):
        super().__init__()
        self.encoder = base_encoder(num_classes=dim)
        self.bank = nn.Linear(dim, 4)

    def forward(self, image):
        return self.bank(self.encoder(image))


def made(class_):
    found = solved_arguments(class_)
    assert found
    return found.kwargs


def test_a_module_that_gives_sequences_of_pictures_cuts_them_into_patches():
    assert made(Tokens)["vision_tower"] == {"_target_": "modeldiagrams.target.objects.Patches", "_args_": [3, 24]}


def test_modules_fit_each_other():
    kwargs = made(Quantized)
    assert kwargs["analysis"] == {"_target_": "torch.nn.Conv2d", "_args_": [3, 32, 3], "padding": 1}
    assert kwargs["synthesis"]["_args_"][0] == 32
    assert kwargs["codes"] == {"_target_": "torch.nn.Embedding", "_args_": [100, 32]}


def test_a_module_whose_copy_is_called_gives_as_many_maps_as_are_taken():
    assert made(Compared)["student"] == {"_target_": "modeldiagrams.target.objects.Pyramid", "_args_": [[8, 12]]}


def test_masks_go_to_what_they_are_named_after():
    kwargs = made(Masked)
    assert kwargs["encoder"]["_args_"] == [32, ["mask"]]
    assert kwargs["decoder"]["_args_"] == [32, ["memory", "mask", "own_mask"]]


def test_what_is_given_an_encoder_is_none():
    assert made(AutoencoderOfEncoder)["encoder"]["_target_"].startswith("torch.nn.")


def test_what_remains_to_be_tried_does_not_change_what_was_found():
    found = solved_arguments(Quantized)
    assert found
    assert found.others
    assert found.search.result().kwargs == found.kwargs


@pytest.mark.parametrize("model", [Tokens, Quantized, Compared, Masked, Momentum])
def test_every_input_is_found_at_once(model):
    target = resolve(parse_options({"model": f"{__name__}.{model.__name__}"}).call)
    assert target.note is None


def test_made_up_modules_run():
    x = torch.rand(2, 5, 8)
    assert Attention(8, ["memory", "mask", "own_mask"])(x, torch.rand(2, 3, 8), torch.ones(2, 1, 3)).shape == x.shape
    assert Attention(8, ["mask"])(x, mask=torch.ones(2, 1, 1, 5)).shape == x.shape
    assert Conditioned(nn.Linear(8, 4), [1, 6])(x, torch.tensor([1, 2]), torch.rand(2, 6)).shape == (2, 5, 4)
    assert Mean(8, 4)(x).shape == (2, 4)
    assert Patches(3, 4)(torch.rand(2, 3, 32, 16)).shape == (2, 8, 4)
    assert PictureNetwork(False, num_classes=7)(torch.rand(2, 3, 8, 8)).shape == (2, 7)
    assert [y.shape[-1] for y in Branches([nn.Linear(8, 4), nn.Linear(8, 2)])(x)] == [4, 2]
    assert Branches({"a": nn.Linear(8, 4)}, is_object=True)(x).a.shape == (2, 5, 4)
    assert {*Branches({"a": nn.Linear(8, 4)})(x)} == {"a"}


class Heard(nn.Module):
    """The part gets how loud each frequency of a sound is."""

    def __init__(self, encoder):
        super().__init__()
        self.encoder, self.head = encoder, nn.Linear(24, 5)

    def forward(self, wave):
        loud = torch.stft(wave, 64, return_complex=True).abs()
        return self.head(self.encoder(loud.transpose(1, 2)).mean(1))


def test_a_module_fits_what_is_made_of_signals():
    search = solved_arguments(Heard).search
    assert search.model.encoder.in_features == 33
    assert search.model.encoder.out_features == 24
