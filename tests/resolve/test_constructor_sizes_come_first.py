"""Models whose constructor is told the sizes of their inputs, as those of libraries are.

PYTEST_DONT_REWRITE: asserts of models have no messages of pytest's, as in users' code.
"""

from __future__ import annotations

import torch
from torch import nn
from torch.utils._pytree import tree_leaves

from modeldiagrams.options.parsing import parse_options
from modeldiagrams.resolve import resolve
from modeldiagrams.resolve.arguments.argument_search import solve_arguments
from modeldiagrams.resolve.inputs.forward_parameters import infer_candidates
from modeldiagrams.resolve.names.candidates import (
    get_constructor_channels,
    get_constructor_sides,
    list_sizes,
    preferring_sizes,
)


def resolved(class_, **options):
    return resolve(parse_options({"model": f"{__name__}.{class_.__name__}", **options}).call)


class Patches(nn.Module):
    """Neither a layer nor an attribute knows how large images are: the constructor was told."""

    def __init__(self, img_size=(40, 24), channels=2):
        super().__init__()
        self.grid = (img_size[0] // 8, img_size[1] // 8)
        self.embed = nn.Linear(64 * channels, 16)
        self.position = nn.Parameter(torch.zeros(self.grid[0] * self.grid[1], 16))

    def forward(self, pixels):
        b, c, h, w = pixels.shape
        assert (h // 8, w // 8) == self.grid
        x = pixels.reshape(b, c, h // 8, 8, w // 8, 8).permute(0, 2, 4, 3, 5, 1).reshape(b, -1, 64 * c)
        return self.embed(x) + self.position


class Clips(nn.Module):
    def __init__(self, frames, image_size, channels=3):
        super().__init__()
        self.first = nn.Linear(channels * frames * image_size * image_size, 8)
        self.inner = nn.Conv3d(4, 4, 3)

    def forward(self, video):
        assert video.shape[1] < 4
        return self.first(video.flatten(1))


def test_images_are_of_the_size_that_the_constructor_was_told():
    target = resolved(Patches)
    assert target.note is None
    assert target.kwargs["pixels"].shape == (1, 2, 40, 24)


def test_video_has_frames_and_channels_that_the_constructor_was_told():
    target = resolved(Clips, kwargs={"frames": 6, "image_size": 20})
    assert target.note is None
    assert target.kwargs["video"].shape == (1, 3, 6, 20, 20)
    assert len(target.tried) <= 2


def test_sizes_are_read_of_all_forms():
    arguments = {
        "encoder": {"_target_": "mypkg.ViT", "image_size": 48, "in_chans": 4},
        "crop_size": {"_target_": "builtins.tuple", "_args_": [[3, 40, 56]]},
        "num_frames": 5,
        "input_size": 7,
    }
    with preferring_sizes(arguments):
        assert get_constructor_sides() == [(48, 48), (40, 56)]
        assert (list_sizes("<size>")[:2], list_sizes("<frames>")[0], get_constructor_channels()) == ((48, 32), 5, {4})
        candidates = next(infer_candidates(nn.Sequential(nn.Conv2d(3, 8, 4))))
        assert candidates["input"][0].entry == [1, 3, "<size>", "<size>"]
    assert list_sizes("<size>")[0] == 32


class Cell(nn.Module):
    """Its part is made up, with the width that its layer has."""

    def __init__(self, encoder, width):
        super().__init__()
        self.encoder, self.cell = encoder, nn.GRUCell(width, width)

    def forward(self, src, h):
        return self.cell(self.encoder(src), h)


def test_sizes_of_made_up_parts_are_plain_numbers():
    """Layers of the parts beside them are made with stubs."""
    solved = solve_arguments(Cell, "")
    assert solved is not None
    assert all(type(value) in (int, str, bool) for value in tree_leaves(solved.kwargs))
