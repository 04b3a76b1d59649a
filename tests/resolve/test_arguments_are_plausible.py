"""Constructor arguments that a reader would have chosen, where others would do as well."""

from __future__ import annotations

from torch import nn

from modeldiagrams.resolve.arguments.argument_search import solve_arguments
from modeldiagrams.resolve.names.conventions import find_usual_arguments


class Upscaler(nn.Module):
    def __init__(self, scale, learn_eps, use_dropout):
        super().__init__()
        self.learn_eps, self.use_dropout = learn_eps, use_dropout
        self.tail = nn.Sequential(nn.Conv2d(3, 3 * scale**2, 3), nn.PixelShuffle(scale))


def found(made):
    solved = solve_arguments(made)
    assert solved is not None
    return solved.kwargs


def test_names_that_say_whether_are_no_numbers():
    kwargs = found(Upscaler)
    assert kwargs == {"scale": 2, "learn_eps": False, "use_dropout": False}


class Depthwise(nn.Module):
    def __init__(self, width, k):
        super().__init__()
        self.conv = nn.Conv1d(width, width, k, groups=width, padding=k // 2)


def test_a_layer_says_more_than_a_letter():
    assert found(Depthwise)["k"] == 3


class Volume(nn.Module):
    def __init__(self, img_size: tuple[int, int, int], in_channels: int):
        super().__init__()
        self.stem, self.sides = nn.Conv3d(in_channels, 8, 3), img_size


def test_lists_have_as_many_items_as_their_annotation_says():
    assert find_usual_arguments(Volume) == {"img_size": [32, 32, 32], "in_channels": 3}
