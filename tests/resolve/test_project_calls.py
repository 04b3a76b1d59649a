"""Arguments as the project itself writes them: literal calls, which are read and never run."""

from __future__ import annotations

import importlib
import os
import sys
import textwrap

import pytest
import yaml

from modeldiagrams.options.parsing import parse_options
from modeldiagrams.resolve import resolve
from modeldiagrams.resolve.code.literal_calls import find_literal_calls

MODEL = """
import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, 4)

    def forward(self, x):
        return self.layer(x)


class Base(nn.Module):
    def __init__(self, n_in, n_out, act=nn.ReLU):
        super().__init__()
        self.layer, self.act = nn.Linear(n_in, n_out), act()

    def forward(self, x):
        return self.act(self.layer(x))


class Tested(Base): ...
class Shown(Base): ...
class Ran(Base): ...
class Alone(Base): ...
class Linear(Base): ...
class Varied(Base): ...
class Configured(Base): ...


class Wrapped(nn.Module):
    def __init__(self, encoder):
        super().__init__()
        self.encoder = encoder

    def forward(self, x):
        return self.encoder(x)


if __name__ == "__main__":
    model = Ran(5, 2 * 3, act=nn.Tanh)
    Wrapped(Encoder(11))


class Made(Base): ...
"""
TEST = """
from evident.models import Tested, Shown
import torch

raise RuntimeError("reading must not run this")

WIDTH = 12
def test_it():
    Tested(object(), 1)
    model = Tested(WIDTH, n_out=4)

Shown(1, 2)

from evident.models import Configured, Made, Varied
from evident.train import Config
import torch.nn as nn

nn.Linear(70, 71)
size = 3
size *= 2
Varied(size, 2)
twice = 3
twice = 4
twice = 5
Varied(twice, 2)
Configured(Config(), 2)

n = 33
def make(n):
    return Made(n, 2)
"""
SCRIPT = """
from evident import models

SIZES = {"small": dict(n_in=8)}
model = models.Shown(**SIZES["small"], n_out=16)
"""


@pytest.fixture(autouse=True)
def project(tmp_path, monkeypatch):
    files = {
        "pyproject.toml": "",
        "evident/__init__.py": "",
        "evident/models.py": MODEL,
        "evident/train.py": "class Config: ...\nraise RuntimeError\n",
        "scripts/show.py": SCRIPT,
        "scripts/broken.py": "Alone(1, 2",
        "tests/test_models.py": TEST,
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    yield
    for name in [name for name in sys.modules if name.split(".")[0] == "evident"]:
        del sys.modules[name]


def said_of(name, **options):
    target = resolve(parse_options({"model": f"evident.models.{name}", **options}).call)
    assert target.note is None
    return {item.subject: (yaml.safe_load(item.value), item.reason) for item in target.assumptions}


@pytest.mark.parametrize(
    ("name", "kwargs", "place"),
    [
        ("Tested", {"n_in": 12, "n_out": 4}, "tests/test_models.py:10"),
        ("Shown", {"n_in": 8, "n_out": 16}, "scripts/show.py:5"),
        ("Ran", {"n_in": 5, "n_out": 6, "act": {"_object_": "torch.nn.Tanh"}}, "evident/models.py:43"),
        ("Wrapped", {"encoder": {"_target_": "evident.models.Encoder", "_args_": [11]}}, "evident/models.py:44"),
    ],
)
def test_arguments_are_those_that_the_project_writes(name, kwargs, place):
    said = said_of(name)
    assert {key: said[f"kwargs.{key}"] for key in kwargs} == {
        key: (value, f"as in {place}") for key, value in kwargs.items()
    }


@pytest.mark.parametrize("name", ["Alone", "Linear", "Varied", "Configured"])
def test_without_a_call_that_can_be_read_names_and_use_decide(name):
    assert not said_of(name)["kwargs.n_in"][1].startswith("as in ")
    assert "evident.train" not in sys.modules


def test_options_come_first():
    assert not [key for key in said_of("Tested", kwargs={"n_in": 2, "n_out": 2}) if key.startswith("kwargs")]


def test_parameters_have_no_value():
    assert not said_of("Made")["kwargs.n_in"][1].startswith("as in ")


def test_without_a_file_that_only_projects_have_other_folders_are_not_read(tmp_path):
    (tmp_path / "pyproject.toml").unlink()
    assert "as in" not in said_of("Tested")["kwargs.n_in"][1]
    assert said_of("Ran")["kwargs.n_in"][1].startswith("as in evident/models.py:")


def test_file_with_the_call_is_a_source(tmp_path):
    call = parse_options({"model": "evident.models.Shown"}).call
    assert resolve(call).sources == (str(tmp_path / "scripts/show.py"),)


def test_change_of_the_file_is_another_call(tmp_path):
    for width in (5, 6):
        (tmp_path / "scripts/alone.py").write_text(f"from evident.models import Alone\nAlone(3, {width})\n")
        assert said_of("Alone")["kwargs.n_out"] == (width, "as in scripts/alone.py:2")


OWN = """
from dataclasses import dataclass
LARGE = {"dim": 64}
class Block: ...
class Wide: ...
@dataclass
class Sizes:
    dim: int
class Net:
    def __init__(self, dim, depth, block=None, rate=0.1): ...
"""


@pytest.fixture
def sites(tmp_path, monkeypatch):
    def read(files):
        written = {"pyproject.toml": "", "shop/__init__.py": "", "shop/net.py": OWN, **files}
        for path, text in written.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(textwrap.dedent(text))
        return [*find_literal_calls(importlib.import_module("shop.net").Net)]

    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    yield read
    for name in [name for name in sys.modules if name.split(".")[0] == "shop"]:
        del sys.modules[name]


IMPORT = "from shop.net import LARGE, Net, Block, Sizes, Wide\n"
READ = {
    "a factory": ("def small(): return Net(8, 2)", {"dim": 8, "depth": 2}),
    "a local name": ("def small():\n    dim = 8\n    return Net(dim, 3)", {"dim": 8, "depth": 3}),
    "a class": ("Net(8, 2, block=Wide)", {"dim": 8, "depth": 2, "block": {"_object_": "shop.net.Wide"}}),
    "an object": ("Net(8, 2, Block())", {"dim": 8, "depth": 2, "block": {"_target_": "shop.net.Block"}}),
    "a mapping": ("KW = dict(dim=8)\nNet(**KW, depth=2)", {"dim": 8, "depth": 2}),
    "an entry": ("SIZES = {'small': {'dim': 8, 'depth': 2}}\nNet(**SIZES['small'])", {"dim": 8, "depth": 2}),
    "a dataclass": (
        "sizes = Sizes(dim=8)\nNet(sizes, sizes.dim)",
        {"dim": {"_target_": "shop.net.Sizes", "dim": 8}, "depth": 8},
    ),
    "a constant of the class's module": ("Net(LARGE['dim'], 2)", {"dim": 64, "depth": 2}),
    "a relative import": ("from .net import Net as R\nR(5, 2)", {"dim": 5, "depth": 2}),
    "another name": ("from shop.net import Net as N\nN(3, 4)", {"dim": 3, "depth": 4}),
    "arithmetic": ("WIDTH = 4\nNet(2 * WIDTH + 1, -3 // 2)", {"dim": 9, "depth": -2}),
    "lists": ("Net([2, 2], (1, 2)[1])", {"dim": [2, 2], "depth": 2}),
}


@pytest.mark.parametrize("kind", READ)
def test_literals_are_read(sites, kind):
    code, kwargs = READ[kind]
    assert kwargs in [site.kwargs for site in sites({"main.py": IMPORT + code})]


@pytest.mark.parametrize(
    "code",
    [
        "def make(dim=3):\n    dim += 1\n    return Net(dim, 2)",
        "def make(dim=3):\n    if dim is None: dim = 64\n    return Net(dim, 2)",
        "kw = dict(dim=3, depth=2)\nkw.update(more)\nNet(**kw)",
        "Net((-8) ** 0.5, 2)",
        "Net(width(), 2)",
        "from shop.other import Net\nNet(7, 7)",
        "Net(" + "(" * 300 + ")" * 300 + ")",
        "\n".join([*(f"a{i} = a{i + 1} + a{i + 1}" for i in range(60)), "a60 = 1", "Net(a0, 2)"]),
    ],
)
def test_what_only_a_run_would_tell_is_no_argument(sites, code):
    files = {"shop/other.py": "class Net:\n    def __init__(self, width, height): ...\n", "main.py": IMPORT + code}
    assert not sites(files)


def test_nothing_outside_of_the_project_is_read(sites, tmp_path):
    outside = tmp_path.parent / f"{tmp_path.name}-outside.py"
    outside.write_text("from shop.net import Net\nNet(3, 4)\n")
    (tmp_path / "link.py").symlink_to(outside)
    os.mkfifo(tmp_path / "pipe.py")
    assert not sites({})
