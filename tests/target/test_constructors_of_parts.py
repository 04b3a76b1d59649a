"""Constructor arguments of every make: what is asked of them, what conditions say, and which layer doesn't fit.

Long because it is a list of models.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal, NamedTuple

import pytest
import torch
import yaml
from torch import nn

from modeldiagrams.options.parsing import parse_options
from modeldiagrams.target import record, resolve
from modeldiagrams.target.inference.annotations import (
    choices_of,
    item_annotation,
    mapped_annotation,
    without_none,
)
from modeldiagrams.target.inference.constructor import solved_arguments
from modeldiagrams.target.inference.search import is_connected
from modeldiagrams.target.objects import Answer, Denoiser, LanguageModel, from_option


class Mood(Enum):
    CALM = "calm"
    WILD = "wild"


@dataclass
class Setup:
    mood: Mood
    way: Literal["up", "down"]
    sizes: dict[str, int]
    rate: float | None


class Annotated(nn.Module):
    """Values of enums and literals, mappings, what may be None."""

    def __init__(self, setup: Setup):
        super().__init__()
        if setup.mood not in Mood:
            raise ValueError(setup.mood)
        self.tables = nn.ModuleDict({name: nn.Linear(3, size) for name, size in setup.sizes.items()})
        self.slope = {"up": 1, "down": -1}[setup.way]

    def forward(self, x):
        return {name: self.slope * table(x) for name, table in self.tables.items()}


class Counted(nn.Module):
    """A number has to be the length of a list beside it."""

    def __init__(self, cfg):
        super().__init__()
        widths = cfg["WIDTHS"]
        if cfg["COUNT"] != len(widths):
            raise ValueError("as many as there are")
        self.layers = nn.ModuleList(nn.Linear(3, width) for width in widths)

    def forward(self, x):
        return [layer(x) for layer in self.layers]


class Tower(NamedTuple):
    size: int
    is_deep: bool


class Towers(nn.Module):
    """A mapping with exactly these keys, of named tuples."""

    def __init__(self, towers: Mapping[str, Tower]):
        super().__init__()
        if set(towers) != {"left", "right"}:
            raise ValueError("two towers")
        self.towers = nn.ModuleDict({name: nn.Linear(3, tower.size) for name, tower in towers.items()})

    def forward(self, x):
        return self.towers["left"](x) + self.towers["right"](x)


class Kinds(nn.Module):
    """The last branch of a chain refuses items of another class."""

    def __init__(self, columns):
        super().__init__()
        self.layers = nn.ModuleList()
        for column in columns:
            if isinstance(column, Tower):
                self.layers.append(nn.Linear(3, column.size))
            else:
                raise TypeError(type(column))

    def forward(self, x):
        return [layer(x) for layer in self.layers]


class Tuned(nn.Module):
    """Is told its numbers by an object with methods."""

    def __init__(self, trial, features):
        super().__init__()
        width = trial.suggest_int("width", 6, 64)
        self.net = nn.Sequential(nn.Linear(features, width), nn.Dropout(trial.suggest_float("drop", 0.25, 0.5)))
        self.act = {"relu": torch.relu, "tanh": torch.tanh}[trial.suggest_categorical("act", ["tanh", "relu"])]

    def forward(self, x):
        return self.act(self.net(x))


class Spoken(nn.Module):
    """A vocabulary that is called, and that has a length."""

    def __init__(self, vocab):
        super().__init__()
        self.table = nn.Embedding(len(vocab), 8, padding_idx=vocab("<pad>"))

    def forward(self, ids):
        return self.table(ids)


class Coded(nn.Module):
    """A tokenizer with a method, an attribute and a length."""

    def __init__(self, tokenizer):
        super().__init__()
        self.table = nn.Embedding(max(len(tokenizer), tokenizer.get_vocab_size()), 8, padding_idx=tokenizer.pad_id)

    def forward(self, ids):
        return self.table(ids)


class Asked(nn.Module):
    """Takes what it needs out of keyword arguments, which may lack it."""

    def __init__(self, **kwargs):
        super().__init__()
        self.units = int(kwargs.get("units"))
        self.depth = kwargs.get("depth")
        self.layers = nn.ModuleList(nn.Linear(self.units, self.units) for _ in range(self.depth))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class Hollow(nn.Module):
    """Has no weights without what its configuration may lack."""

    def __init__(self, cfg, channels):
        super().__init__()
        cfg = dict(cfg) if isinstance(cfg, list) else cfg
        sizes = cfg["SIZES"] if cfg.get("SIZES") is not None else []
        self.layers = nn.ModuleList(nn.Linear(channels, size) for size in sizes)

    def forward(self, x):
        return [layer(x) for layer in self.layers]


class Pendulum(nn.Module):
    """Spaces of an environment."""

    def __init__(self, observation_space, action_space):
        super().__init__()
        self.net = nn.Linear(observation_space.shape[0], action_space.shape[0])
        self.register_buffer("scale", torch.as_tensor((action_space.high - action_space.low) / 2.0))

    def forward(self, obs):
        return self.net(obs) * self.scale


class Scaled(nn.Module):
    """A number in the old constructor of tensors, which takes what has a length for a list."""

    def __init__(self, margin):
        super().__init__()
        self.margin = nn.Parameter(torch.Tensor([margin]))
        self.layer = nn.Linear(3, 3)

    def forward(self, x):
        return self.layer(x) - self.margin


class Pretrained(nn.Module):
    """Weights whose name sounds like a flag's."""

    def __init__(self, pretrained_vectors):
        super().__init__()
        self.table = nn.Embedding.from_pretrained(pretrained_vectors)

    def forward(self, ids):
        return self.table(ids)


class Walked(nn.Module):
    """A square matrix that is only known by a method of tensors."""

    def __init__(self, adj):
        super().__init__()
        self.register_buffer("walk", adj / adj.sum(1).clamp(min=1)[:, None])
        self.layer = nn.Linear(4, 4)

    def forward(self, x):
        return self.walk @ self.layer(x)


class Optional(nn.Module):
    """A part that may be left out, and can't be made of any name of the table's."""

    def __init__(self, cfg):
        super().__init__()
        self.extra = PARTS[cfg.extra]() if cfg.extra is not None else None
        self.layer = nn.Linear(cfg.width, 4)

    def forward(self, x):
        return self.layer(x)


PARTS = {"optional": Optional}


class Narrow(nn.Module):
    """Its second layer takes what the first one gives, which two arguments say."""

    def __init__(self, inner_size, stem: dict):
        super().__init__()
        self.stem = nn.Linear(5, stem["first_out"] * 3)
        self.head = nn.Linear(inner_size, 2)

    def forward(self, x):
        return self.head(self.stem(x))


class Rows(nn.Module):
    """Normalizes rows by a class that is usual for pictures."""

    def __init__(self, norm_layer, width):
        super().__init__()
        self.norm = norm_layer(width)
        self.embed = nn.Embedding(20, width)

    def forward(self, ids):
        rows, _ = ids.shape
        return self.norm(self.embed(ids)).view(rows, -1)


class Described(nn.Module):
    """A language model that is asked for its width, and for what it gives by position."""

    def __init__(self, bert, labels):
        super().__init__()
        self.bert = bert
        self.head = nn.Linear(bert.config.hidden_size, len(labels))

    def forward(self, input_ids, attention_mask):
        outputs = self.bert(input_ids, attention_mask=attention_mask)
        return self.head(outputs[1])


ALL = [
    Annotated,
    Counted,
    Towers,
    Kinds,
    Tuned,
    Spoken,
    Coded,
    Hollow,
    Pendulum,
    Scaled,
    Pretrained,
    Walked,
    Optional,
    Narrow,
    Rows,
    Described,
]


def found(model: type) -> dict[str, Any]:
    solved = solved_arguments(model)
    assert solved is not None
    return solved.kwargs


@pytest.mark.parametrize("model", ALL)
def test_a_model_needs_no_option_and_its_arguments_can_be_pasted(model):
    target = resolve(parse_options({"model": f"{__name__}.{model.__name__}"}).call)
    assert target.note is None, target.note
    assert is_connected(record(target).graph)
    said = {a.subject: yaml.safe_load(a.value) for a in target.assumptions if a.subject.startswith("kwargs.")}
    pasted = model(**from_option({name.removeprefix("kwargs."): value for name, value in said.items()}))
    assert [p.shape for p in pasted.parameters()] == [p.shape for p in target.model.parameters()]


def test_enums_literals_and_mappings_are_read_from_annotations():
    setup = found(Annotated)["setup"]
    assert setup["mood"] == {"_target_": f"{__name__}.Mood", "_args_": ["calm"]}
    assert setup["way"] == "up"
    assert len(setup["sizes"]) == 2
    assert isinstance(setup["rate"], float)
    assert without_none(int | None) is int
    assert choices_of(Literal["a", "b"]) == ("a", "b")
    assert item_annotation(list[list[int]]) == list[int]
    assert mapped_annotation(dict[str, list[int]]) == (True, list[int])
    assert mapped_annotation(list[int]) == (False, None)


def test_conditions_tell_lengths_keys_and_classes():
    cfg = found(Counted)["cfg"]
    assert cfg["COUNT"] == len(cfg["WIDTHS"])
    assert [*found(Towers)["towers"]] == ["left", "right"]
    assert found(Towers)["towers"]["left"]["is_deep"] is False
    assert {item["_target_"] for item in found(Kinds)["columns"]} == {f"{__name__}.Tower"}


def test_methods_give_what_their_calls_say():
    trial = found(Tuned)["trial"]
    assert trial["suggest_int"]["_args_"] == [{"width": 6}]
    assert trial["suggest_float"]["_args_"] == [{"drop": 0.25}]
    assert trial["suggest_categorical"]["_args_"] == [{"act": "tanh"}]
    made = from_option(found(Coded)["tokenizer"])
    assert len(made) == made.get_vocab_size()
    assert from_option(found(Spoken)["vocab"])("<pad>") == 0


def test_keyword_arguments_that_may_be_missing_are_asked_for():
    solved = solved_arguments(Asked, "KeyError: 'units'")
    assert solved is not None
    assert {*solved.kwargs} == {"units", "depth"}


def test_spaces_have_a_shape_and_limits():
    spaces = found(Pendulum)
    assert len(spaces["observation_space"]["shape"]) == 1
    assert spaces["action_space"]["low"] < spaces["action_space"]["high"]


def test_what_no_number_can_be_is_a_tensor_or_none():
    assert found(Walked)["adj"] == {"_target_": "torch.rand", "_args_": [16, 16]}
    assert found(Pretrained)["pretrained_vectors"]["_target_"] == "torch.rand"
    assert found(Optional)["cfg"]["extra"] is None
    assert {*found(Optional)["cfg"]} == {"_target_", "extra", "width"}


def test_a_layer_that_does_not_fit_changes_the_argument_that_it_holds():
    target = resolve(parse_options({"model": f"{__name__}.Narrow"}).call)
    assert target.model.head.in_features == target.model.stem.out_features
    reasons = {a.subject: a.reason for a in target.assumptions}
    assert "so many features come to head" in reasons["kwargs.inner_size"]


def test_a_layer_of_another_rank_changes_the_class_that_made_it():
    target = resolve(parse_options({"model": f"{__name__}.Rows"}).call)
    assert isinstance(target.model.norm, nn.LayerNorm)


def test_made_up_objects_answer():
    answer = Answer({"a": 1}, length=3, pad=0)
    assert (answer("a"), len(answer), answer.pad, bool(Answer())) == (1, 3, 0, True)
    assert Answer(5)("whatever") == 5
    hidden, pooled = LanguageModel(10, 4)(torch.zeros(2, 3, dtype=torch.int64), token_type_ids=None)
    assert hidden.shape == (2, 3, 4)
    assert pooled.shape == (2, 4)
    assert Denoiser(3)(torch.rand(2, 3, 8, 8), torch.tensor([1, 2])).shape == (2, 3, 8, 8)
