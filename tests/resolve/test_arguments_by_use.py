"""Constructor arguments found by how they are used: what each use shows, and that what is found can be pasted.

Long because it is a list of small classes.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
import yaml
from torch import nn

from modeldiagrams.errors import TargetError
from modeldiagrams.options.parsing import parse_options
from modeldiagrams.resolve import resolve
from modeldiagrams.resolve.arguments.argument_search import solve_arguments
from modeldiagrams.resolve.models import make_model
from modeldiagrams.resolve.values.option_values import make_option_value

QUICK = ["AdsMultiTask", "Nested", "PoemWriter"]


class Choice(nn.Module):
    def __init__(self, kind, mode):
        super().__init__()
        if kind == "wide":
            self.layer = nn.Linear(8, 4)
        elif kind == "narrow":
            self.layer = nn.Linear(4, 4)
        else:
            raise ValueError(kind)
        self.act = {"gelu": nn.GELU, "relu": nn.ReLU}[mode]()


class Sizes(nn.Module):
    def __init__(self, triple, pairs, widths):
        super().__init__()
        a, b, c = triple
        self.first = nn.Linear(a * b, c)
        self.rest = nn.ModuleList(nn.Linear(i, o) for i, o in pairs)
        self.last = nn.Linear(widths[0], widths[3])


class Divided(nn.Module):
    def __init__(self, width, parts):
        super().__init__()
        if width % parts or parts < 5:
            raise ValueError("width must be divisible by parts")
        self.layer = nn.Linear(width, width // parts)


@dataclass
class Options:
    width: int
    kinds: list[str]


class Typed(nn.Module):
    def __init__(self, options: Options, act: nn.Module):
        super().__init__()
        self.layer, self.act = nn.Linear(options.width, len(options.kinds)), act


class Mapped(nn.Module):
    def __init__(self, cfg, sizes):
        super().__init__()
        self.layer = nn.Linear(cfg["width"], cfg["deep"]["width"])
        self.tables = nn.ModuleDict({name: nn.Embedding(n, 4) for name, n in sizes.items()})


class Held(nn.Module):
    """What it is given is called, or compared, only in forward."""

    def __init__(self, body, reduction):
        super().__init__()
        self.body, self.reduction = body, reduction

    def forward(self, x):
        return self.body(x).sum() if self.reduction == "sum" else self.body(x)


class Several(nn.Module):
    def __init__(self, models):
        super().__init__()
        self.models = nn.ModuleList(models)

    def forward(self, x):
        return sum(model(x) for model in self.models)


def test_equal_parts_are_written_in_full():
    target = resolve(parse_options({"model": f"{__name__}.Several"}).call)
    models = next(item.value for item in target.assumptions if item.subject == "kwargs.models")
    assert "&" not in models
    assert models.count("_args_") == 2


class Hopeless(nn.Module):
    def __init__(self, path):
        super().__init__()
        print("reading", path)
        with open(path) as file:  # noqa: PTH123  (0 to 2 are open files, too)
            self.layer = nn.Linear(len(file.read()), 2)


def found(made):
    solved = solve_arguments(made)
    assert solved is not None
    return solved.kwargs


def test_strings_are_those_that_the_code_compares_with():
    assert found(Choice) == {"kind": "wide", "mode": "gelu"}


def test_lists_are_as_long_as_they_are_unpacked_and_indexed():
    kwargs = found(Sizes)
    assert [len(kwargs["triple"]), {len(pair) for pair in kwargs["pairs"]}, len(kwargs["widths"])] == [3, {2}, 4]


def test_error_is_answered_by_other_numbers():
    kwargs = found(Divided)
    assert kwargs["parts"] >= 5
    assert kwargs["width"] % kwargs["parts"] == 0


def test_annotated_classes_are_made():
    kwargs = found(Typed)
    assert kwargs["options"]["_target_"].endswith("Options")
    assert isinstance(make_option_value(kwargs["act"]), nn.Module)


def test_mappings_have_the_keys_that_are_read():
    kwargs = found(Mapped)
    assert {"width", "deep"} == set(kwargs["cfg"])
    assert isinstance(kwargs["cfg"]["deep"]["width"], int)
    assert len(kwargs["sizes"]) == 2


def test_what_forward_calls_is_a_module():
    kwargs = found(Held)
    assert isinstance(make_option_value(kwargs["body"]), nn.Module)
    assert kwargs["reduction"] == "sum"


class Writing(Hopeless):
    def __init__(self, folder: str):
        Path(folder).mkdir()
        super().__init__(f"{folder}/weights")


@pytest.mark.parametrize("made", [Hopeless, Writing])
def test_made_up_files_are_neither_read_nor_written(made, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    assert solve_arguments(made) is None
    assert not [*tmp_path.iterdir()]
    assert capfd.readouterr() == ("", "")


def test_objects_are_written_as_hydra_does():
    entry = {"_target_": "types.SimpleNamespace", "cell": {"_object_": "torch.nn.GRU"}, "sizes": [1, 2]}
    assert make_option_value(entry) == SimpleNamespace(cell=nn.GRU, sizes=[1, 2])
    assert make_option_value({"_target_": "torch.nn.Linear", "_args_": [3, 2]}).in_features == 3


@pytest.mark.parametrize("name", QUICK)
def test_found_arguments_can_be_pasted(name):
    path = f"inference_zoo.constructor_use.{name}"
    target = resolve(parse_options({"model": path}).call)
    assert target.note is None
    said = {item.subject: yaml.safe_load(item.value) for item in target.assumptions}
    kwargs = {key.removeprefix("kwargs."): value for key, value in said.items() if key.startswith("kwargs.")}
    pasted = make_model(parse_options({"model": path, "kwargs": kwargs}).call, 1e9)
    assert pasted.arguments.assumptions == ()
    shapes = [{name: p.shape for name, p in model.named_parameters()} for model in (pasted.model, target.model)]
    assert shapes[0] == shapes[1]
    assert solve_arguments(pasted.maker) == solve_arguments(pasted.maker)


class Defaults(nn.Module):
    def __init__(self, config):
        super().__init__()
        depth = getattr(config, "depth", 6)
        self.layers = nn.Sequential(*(nn.Linear(config.width, config.width) for _ in range(depth)))


def test_defaults_of_the_code_are_kept():
    found = solve_arguments(Defaults)
    assert found
    assert "depth" not in found.kwargs["config"]
    assert "width" in found.kwargs["config"]


class Saver(nn.Module):
    def __init__(self, width, out_dir):
        super().__init__()
        try:
            (Path(WRITTEN) / f"{out_dir}").touch()
        except OSError:
            self.is_saved = False
        self.layer = nn.Linear(width, width)


class Vast(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.rate = torch.linspace(0, width, 4)[1].item()
        self.table = torch.empty(2 * 10**8)
        VAST.append(self)


VAST: list[Vast] = []


def test_constructors_that_need_values_get_what_can_be_afforded():
    assert solve_arguments(Vast) is None
    assert not VAST


WRITTEN = ""


def test_nothing_is_written_under_names_that_nobody_chose(tmp_path, monkeypatch):
    monkeypatch.setattr(f"{__name__}.WRITTEN", str(tmp_path))
    make_model(parse_options({"model": f"{__name__}.Saver"}).call, 1e8)
    assert not [*tmp_path.iterdir()]


class Part(nn.Module):
    def __init__(self, channels, widths):
        super().__init__()
        self.layers = nn.ModuleList(nn.Conv2d(channels, width, 3) for width in widths)


PARTS = {"Part": Part}


class Registered(nn.Module):
    def __init__(self, body):
        super().__init__()
        self.body = PARTS[body.pop("type")](**body)


class Tasks(nn.Module):
    def __init__(self, tasks, chosen):
        super().__init__()
        self.heads = nn.ModuleDict({task: nn.Linear(8, 1) for task in tasks})
        mask = torch.ones(8)
        mask[chosen] = 0
        self.rest = nn.Linear(8 - len(chosen), 1)
        self.register_buffer("mask", mask)


def test_configurations_of_registered_parts_have_what_these_require():
    body = found(Registered)["body"]
    assert body["type"] == "Part"
    assert isinstance(body["widths"], list)


def test_names_of_parts_and_places_of_columns_differ():
    kwargs = found(Tasks)
    assert kwargs["tasks"] == ["task0", "task1"]


class Asserting(nn.Module):
    def __init__(self, layers, is_wide: int):
        super().__init__()
        assert is_wide
        self.layers = nn.ModuleList(nn.Linear(8, 8) for _ in range(layers))


def test_whole_numbers_that_are_only_tested_are_zero_or_one():
    assert found(Asserting)["is_wide"] == 1


class Encoder(nn.Module):
    """Says what it misses."""

    def __init__(self, encoder, width: int):
        super().__init__()
        self.layer = nn.Linear(width, encoder.layers(width)["width"].total())


class Named(Encoder):
    def __init__(self, kind: str):
        super().__init__(kind, 4)


@pytest.mark.parametrize("made", [Encoder, Named])
def test_no_hint_is_given_that_would_not_work(made):
    with pytest.raises(TargetError, match="missing a required argument") as caught:
        resolve(parse_options({"model": f"{__name__}.{made.__name__}", "inputs": [1, 10]}).call)
    assert str(caught.value).endswith(
        "write its arguments with the options `args` and `kwargs`, or name a function of yours that makes the model"
    )
    assert "_empty" not in str(caught.value)
