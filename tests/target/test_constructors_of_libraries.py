"""Constructor arguments in the manners of well-known libraries: registries, tables by class, limits, written names."""

from __future__ import annotations

from enum import Enum

import numpy as np
import torch
from torch import nn

from modeldiagrams.target.inference.constructor import solved_arguments
from modeldiagrams.target.inference.conventions import required_parameters
from modeldiagrams.target.objects import from_option


def found(made):
    solved = solved_arguments(made)
    assert solved is not None
    return solved.kwargs


NORMS = {nn.Conv1d: nn.BatchNorm1d, nn.Conv2d: nn.BatchNorm2d}


class OpsByClass(nn.Module):
    def __init__(self, op, width, norm_op: type[nn.Module] | None = None):
        super().__init__()
        norm = NORMS[op] if norm_op is None else norm_op
        self.layers = nn.Sequential(op(3, width, 3), norm(width))


class ActivationOfClass(nn.Module):
    def __init__(self, width, unit: type[nn.Module]):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(8, width), unit())


def test_keys_of_a_table_may_be_classes():
    assert found(OpsByClass) == {"op": {"_object_": "torch.nn.Conv1d"}, "width": 64}


def test_an_annotation_may_ask_for_a_class():
    assert found(ActivationOfClass)["unit"] == {"_object_": "torch.nn.ReLU"}


class Mode(Enum):
    FLAT = 1
    DEEP = 2


class ByMode(nn.Module):
    def __init__(self, mode):
        super().__init__()
        self.layers = nn.Linear(8, {Mode.FLAT: 4, Mode.DEEP: 6}[mode])


def test_keys_of_a_table_may_be_members_of_an_enumeration():
    assert found(ByMode) == {"mode": {"_target_": f"{__name__}.Mode", "_args_": [1]}}


class Limited(nn.Module):
    def __init__(self, growth: float, slope: float, groups: int):
        super().__init__()
        if slope >= 0:
            raise ValueError("slope must be negative")
        assert groups > 20
        assert 1 < growth <= 2
        self.layers = nn.Linear(groups, int(groups * growth))


def test_a_failed_condition_limits_a_number():
    kwargs = found(Limited)
    assert kwargs["slope"] < 0
    assert kwargs["groups"] > 20
    assert 1 < kwargs["growth"] <= 2


class Recurrent(nn.Module):
    def __init__(self, etype, strides):
        super().__init__()
        kind = etype.removeprefix("vgg").rstrip("p")
        if kind not in {"lstm", "gru"}:
            raise ValueError(f"there is no {etype}")
        self.strides = [int(step) for step in strides.split("_")]
        self.layers = nn.LSTM(8, 8)


def test_what_a_string_is_without_its_ends_is_compared_and_digits_are_in_it():
    assert found(Recurrent) == {"etype": "lstm", "strides": "1_1"}


PARTS = {}


def build(cfg, **more):
    if not isinstance(cfg, dict) or "type" not in cfg:
        raise TypeError(f"expected a dict with a type, got {cfg}")
    values = {**more, **cfg.copy()}
    name = values.pop("type")
    if PARTS.get(name) is None:
        raise KeyError(f"{name} is not in the registry of parts")
    return PARTS[name](**values)


class ConvTrunk(nn.Module):
    def __init__(self, depth):
        super().__init__()
        self.layers = nn.Sequential(*(nn.Conv2d(3, 3, 3) for _ in range(depth)))


class ClassHead(nn.Module):
    def __init__(self, num_classes):
        super().__init__()
        self.layers = nn.Linear(3, num_classes)


PARTS.update(ConvTrunk=ConvTrunk, ClassHead=ClassHead)


class Registered(nn.Module):
    def __init__(self, trunk, cls_head):
        super().__init__()
        self.trunk, self.head = build(trunk), build(cls_head)


def test_parts_of_a_registry_are_those_that_sound_like_their_argument():
    expected = {
        "trunk": {"type": "ConvTrunk", "depth": 2},
        "cls_head": {"type": "ClassHead", "num_classes": 10},
    }
    assert found(Registered) == expected


class OddRegistered(nn.Module):
    def __init__(self, second):
        super().__init__()
        self.first = build(second)
        if isinstance(self.first, ConvTrunk):
            raise TypeError(f"second must not be a {second['type']}")


def test_members_that_another_part_needed_are_left_out():
    assert found(OddRegistered) == {"second": {"type": "ClassHead", "num_classes": 10}}


class Pyramid(nn.Module):
    def __init__(self, out_features, in_features):
        super().__init__()
        widths = {"low": 4, "mid": 6, "high": 8}
        shapes = {name: widths[name] for name in out_features}
        self.lateral = nn.ModuleDict({name: nn.Conv2d(shapes[name], 8, 1) for name in in_features})


def test_names_that_another_argument_lists_are_taken_in_its_order():
    assert found(Pyramid) == {"out_features": ["low", "mid"], "in_features": ["low", "mid"]}


REQUIRED = object()


class Bound(nn.Module):
    def __init__(self, width=REQUIRED, depth=2):
        super().__init__()
        if width is REQUIRED:
            raise RuntimeError("no configuration gives `width`")
        self.layers = nn.Sequential(*(nn.Linear(width, width) for _ in range(depth)))


def test_a_default_that_says_that_a_value_is_required_is_none():
    assert [parameter.name for parameter in required_parameters(Bound)] == ["width"]
    assert found(Bound) == {"width": 64}


class Taken(nn.Module):
    def __init__(self, vocab, params):
        super().__init__()
        width = params.pop("width")
        self.embed = nn.Embedding(vocab.count(namespace="tokens"), width)
        self.layers = nn.Linear(width, vocab.count(namespace="labels"))
        if params:
            raise ValueError(f"extra parameters: {params}")


def test_what_is_taken_apart_may_be_empty_in_the_end():
    kwargs = found(Taken)
    assert kwargs["params"] == {"width": 64}
    assert isinstance(Taken(**from_option(kwargs)), nn.Module)


class Sized(nn.Module):
    def __init__(self, rnn_units, strides, features_per_stage):
        super().__init__()
        self.reduce = nn.Conv2d(features_per_stage, features_per_stage, (1, rnn_units))
        self.up = nn.ConvTranspose2d(features_per_stage, 3, strides, strides)


def test_names_tell_sizes_that_are_kernels_too():
    assert found(Sized) == {"rnn_units": 32, "strides": 1, "features_per_stage": 16}


class Spaces(nn.Module):
    def __init__(self, observation_space, alphabet):
        super().__init__()
        self.embed = nn.Embedding(len(alphabet), 8, alphabet.padding_idx)
        self.prepend = alphabet.prepend_bos
        shape = observation_space.spaces["joints"].shape
        self.layers = nn.Linear(np.array(shape).prod(), 8)


def test_fields_have_plausible_values_and_no_leftovers():
    kwargs = found(Spaces)
    assert kwargs["observation_space"]["spaces"]["joints"]["shape"] == [4]
    assert {*kwargs["alphabet"]} == {"_target_", "length", "padding_idx", "prepend_bos"}
    assert kwargs["alphabet"]["prepend_bos"] is False


class Diffused(nn.Module):
    def __init__(self, num_nodes, supports, row):
        super().__init__()
        self.supports = supports
        self.nodes = nn.Parameter(torch.zeros(num_nodes, 8))
        self.steps = nn.Linear(8, len(supports))
        self.register_buffer("both", torch.cat((torch.as_tensor(row), torch.as_tensor(row))))


def test_graphs_in_a_list_are_matrices_and_what_is_put_together_has_items():
    kwargs = found(Diffused)
    matrix = {"_target_": "torch.rand", "_args_": [kwargs["num_nodes"]] * 2}
    assert kwargs["supports"] == [matrix, matrix]
    assert type(kwargs["row"]) is list


class Settings:
    def __init__(self, **kwargs):
        self.pad = kwargs.pop("pad", 0)


class DecoderSettings(Settings):
    def __init__(self, width, **kwargs):
        self.width = width
        super().__init__(**kwargs)


class Configured(nn.Module):
    def __init__(self, config):
        super().__init__()
        if not isinstance(config, Settings):
            raise TypeError("`config` should be an instance of Settings")
        self.layers = nn.Linear(config.width, 8)


def test_settings_that_a_base_checks_are_those_that_have_what_is_read():
    assert found(Configured) == {"config": {"_target_": f"{__name__}.DecoderSettings", "width": 64}}


class Columns(nn.Module):
    def __init__(self, sizes, categoricals):
        super().__init__()
        self.tables = nn.ModuleDict({name: nn.Embedding(size, 8) for name, size in sizes.items()})
        self.layers = nn.Linear(sum(sizes[name] for name in categoricals), 8)


def test_names_that_were_made_up_make_room_for_those_that_are_read():
    kwargs = found(Columns)
    assert [*kwargs["sizes"]] == kwargs["categoricals"] == ["categorical0", "categorical1"]


def layer_of(config):
    config = dict(config)
    widths = {"narrow": 4, "wide": 8}
    return nn.Linear(3, widths[config.pop("name")])


class Layered(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.layers = nn.ModuleList(layer_of(layer) for layer in layers)


def test_what_a_table_has_told_is_tried_first():
    solved = solved_arguments(Layered)
    assert solved is not None
    assert [layer["name"] for layer in solved.kwargs["layers"]] == ["narrow", "wide"]
    assert solved.search is not None
    assert solved.search.runs < 3
