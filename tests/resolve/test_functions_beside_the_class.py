"""Functions beside a class that make one, as libraries offer them, and what their weights say of the input."""

from __future__ import annotations

import textwrap
from enum import Enum
from functools import partial

import msgspec
import pytest
import torch
import yaml
from torch import Tensor, nn

from modeldiagrams.api.explain import explain
from modeldiagrams.errors import TargetError
from modeldiagrams.options.parsing import parse_options
from modeldiagrams.resolve import record, resolve
from modeldiagrams.resolve.libraries.factories import find_factories

CALLED: list[str] = []


class Block(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.conv = nn.Conv2d(size, 2 * size, 3, padding=1)

    def forward(self, x):
        return self.conv(x)


class Tower(nn.Module):
    """Its arguments are computed, so that only a call of its factories tells them."""

    def __init__(self, parts, width, meta):
        super().__init__()
        if meta["kind"] not in {"small", "large"} or len(parts) != meta["parts"]:
            raise ValueError(meta)
        self.stem = nn.Conv2d(3, width, 3)
        self.parts = nn.Sequential(*parts)

    def forward(self, x):
        return self.parts(self.stem(x))


def _parts(count):
    return [Block(4 * 2**index) for index in range(count)]


def _tower(kind, count, weights=None, **kwargs):
    model = Tower(_parts(count), 4, {"kind": kind, "parts": count}, **kwargs)
    if weights is not None:
        raise TargetError("there is no connection")
    return model


def large(*, weights="imagenet"):
    CALLED.append("large")
    return _tower("large", 3, weights=weights)


def tower_small(*, weights="imagenet", **kwargs):
    model = _tower("small", 2, weights=weights, **kwargs)
    return model  # noqa: RET504  (as libraries write it)


def trained(steps=3):
    CALLED.append("trained")
    model = _tower("small", 2)
    for _ in range(steps):
        model(torch.zeros(1, 3, 8, 8)).sum().backward()
    return model


def of_width(width):
    return Tower([], width, {"kind": "small", "parts": 0})


def no_tower():
    return Block(3)


class Refusing(nn.Module):
    """Made of its defaults, it takes no input."""

    def __init__(self, widths=(4, 5, 6)):
        super().__init__()
        self.parts = nn.ModuleList(nn.Linear(width, 4) for width in widths)

    def forward(self, x):
        for part in self.parts:
            x = part(x)
        return x


def refusing_none():
    return Refusing([4 for _ in range(2)])


class Weights(Enum):
    DEFAULT = "a"

    @property
    def meta(self):
        return {"min_temporal_size": 6}

    @property
    def transforms(self):
        return partial(print, crop_size=(40, 48), resize_size=[50])


class Film(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv3d(3, 4, 3)
        self.out = nn.Linear(4 * 4 * 38 * 46, 2)

    def forward(self, x):
        return self.out(self.conv(x).flatten(1))


def film(*, weights: Weights | None = None):
    assert weights is None
    return Film()


class Detector(nn.Module):
    """Takes pictures of several sizes."""

    def __init__(self):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8)

    def forward(self, images: list[Tensor], targets: list[dict[str, Tensor]] | None = None):
        assert targets is None
        for image in images:
            if image.dim() != 3:
                raise ValueError(f"images is expected to be a list of 3d tensors, got {image.shape}")
        batch = torch.stack([image / 255 for image in images])
        return [{"boxes": boxes} for boxes in self.norm(self.conv(batch)).flatten(1)]


def found(name):
    options = parse_options({"model": f"{__name__}.{name}"})
    target = resolve(options.call)
    return options.call, target, {item.subject: item.value for item in target.assumptions}


@pytest.mark.parametrize(("name", "factory"), [("Tower", "tower_small"), ("Refusing", "refusing_none")])
def test_class_is_made_as_a_function_beside_it_makes_it_which_can_be_pasted(name, factory):
    call, target, said = found(name)
    assert said["model"] == f"{__name__}.{factory}"
    graph = msgspec.structs.replace(record(target).graph, assumptions=target.assumptions)
    assert graph.status.state == "complete"
    fence = explain(call, graph, ()).partition("Markdown:\n")[2].partition("\n\n")[0].splitlines()[1:-1]
    pasted = resolve(parse_options(yaml.safe_load(textwrap.dedent("\n".join(fence)))).call)
    assert pasted.assumptions == ()
    assert record(pasted).graph.nodes == graph.nodes


def test_weights_that_are_fetched_are_left_out_and_nothing_is_trained():
    CALLED.clear()
    _, _, said = found("Tower")
    assert said["kwargs.weights"] == "null"
    assert CALLED == []


def test_what_only_makes_one_is_a_factory_and_those_of_its_name_come_first():
    assert [factory.__name__ for factory in find_factories(Tower)] == ["tower_small", "large"]


def test_arguments_that_an_author_gives_ask_for_no_factory():
    with pytest.raises(TargetError, match="missing a required argument"):
        resolve(parse_options({"model": f"{__name__}.Tower", "kwargs": {"width": 4}}).call)


def test_input_has_the_size_that_weights_of_a_factory_are_for():
    _, target, said = found("film")
    assert said["inputs.x"] == "[1, 3, 6, 40, 48]"
    assert len(target.tried) == 1


def test_detector_gets_a_list_of_single_images():
    _, _, said = found("Detector")
    assert said["inputs.images"] in ("[[3, 32, 32]]", "[[3, 32, 32], [3, 32, 32]]")
