"""Arguments and inputs as the project itself writes them: literal calls, which are read and never run."""

from __future__ import annotations

import importlib
import json
import os
import sys
import textwrap

import pytest
import yaml

from modeldiagrams.options.parsing import parse_options
from modeldiagrams.resolve import resolve
from modeldiagrams.resolve.project.literal_calls import find_literal_calls

MODEL = '''
"""Documents itself.

>>> model = Documented(3, 7)
"""
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


class Documented(Base): ...
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
    print(model(torch.randn(9, 5)))
    Wrapped(Encoder(11))


class Made(Base): ...
'''
TEST = """
from evident.models import Tested, Shown
import torch

raise RuntimeError("reading must not run this")

WIDTH = 12
def test_it():
    Tested(object(), 1)
    model = Tested(WIDTH, n_out=4)
    x = torch.rand(2, 3, 12)
    assert model(x).shape == (2, 3, 4)

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
README = """
# Evident

```python
from evident.models import Shown
model = Shown(8, 16)
```
"""


@pytest.fixture(autouse=True)
def project(tmp_path, monkeypatch):
    files = {
        "pyproject.toml": "",
        "README.md": README,
        "evident/__init__.py": "",
        "evident/models.py": MODEL,
        "evident/train.py": "class Config: ...\nraise RuntimeError\n",
        "broken.ipynb": '{"cells": ["Alone(1, 2)", {"cell_type": "code", "source": [3]}]}',
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
        ("Documented", {"n_in": 3, "n_out": 7}, "evident/models.py:4"),
        ("Tested", {"n_in": 12, "n_out": 4}, "tests/test_models.py:10"),
        ("Shown", {"n_in": 8, "n_out": 16}, "README.md:6"),
        ("Ran", {"n_in": 5, "n_out": 6, "act": {"_object_": "torch.nn.Tanh"}}, "evident/models.py:48"),
        ("Wrapped", {"encoder": {"_target_": "evident.models.Encoder", "_args_": [11]}}, "evident/models.py:50"),
    ],
)
def test_arguments_are_those_that_the_project_writes(name, kwargs, place):
    said = said_of(name)
    assert {key: said[f"kwargs.{key}"] for key in kwargs} == {
        key: (value, f"as in {place}") for key, value in kwargs.items()
    }


def test_inputs_are_those_that_the_project_calls_it_with():
    assert said_of("Tested")["inputs.x"] == ([2, 3, 12], "as in tests/test_models.py:10")
    assert said_of("Ran")["inputs.x"][0] == [9, 5]


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
    assert said_of("Documented")["kwargs.n_in"][1] == "as in evident/models.py:4"


def test_file_with_the_call_is_a_source(tmp_path):
    call = parse_options({"model": "evident.models.Shown"}).call
    assert resolve(call).sources == (str(tmp_path / "README.md"),)


def test_configuration_is_a_source_and_its_change_another_call(tmp_path):
    (tmp_path / "conf").mkdir()
    file = tmp_path / "conf/alone.yaml"
    for width in (5, 6):
        file.write_text(f"_target_: evident.models.Alone\nn_in: 3\nn_out: {width}\n")
        call = parse_options({"model": "evident.models.Alone"}).call
        target = resolve(call)
        assert target.sources == (str(file),)
        assert ("kwargs.n_out", str(width), "as in conf/alone.yaml:1") in {
            (item.subject, item.value, item.reason) for item in target.assumptions
        }


OWN = """
class Block: ...
class Wide: ...
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


IMPORT = "from shop.net import Net, Block, Wide\n"
READ = {
    "a factory": ("def small(): return Net(8, 2)", {"dim": 8, "depth": 2}),
    "defaults": ("def small(dim=8, *, depth=3): return Net(dim, depth)", {"dim": 8, "depth": 3}),
    "a class": ("Net(8, 2, block=Wide)", {"dim": 8, "depth": 2, "block": {"_object_": "shop.net.Wide"}}),
    "an object": ("Net(8, 2, Block())", {"dim": 8, "depth": 2, "block": {"_target_": "shop.net.Block"}}),
    "a mapping": ("KW = dict(dim=8)\nNet(**KW, depth=2)", {"dim": 8, "depth": 2}),
    "an entry": ("SIZES = {'small': {'dim': 8, 'depth': 2}}\nNet(**SIZES['small'])", {"dim": 8, "depth": 2}),
    "partial": ("from functools import partial\nsmall = partial(Net, 8, depth=2)", {"dim": 8, "depth": 2}),
    "another name": ("from shop.net import Net as N\nN(3, 4)", {"dim": 3, "depth": 4}),
    "arithmetic": ("WIDTH = 4\nNet(2 * WIDTH + 1, -3 // 2)", {"dim": 9, "depth": -2}),
    "lists": ("Net([2] * 2, (1, 2)[1])", {"dim": [2, 2], "depth": 2}),
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


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(["a0: &a0 [Net, Net]", *(f"a{i + 1}: &a{i + 1} [*a{i}, *a{i}]" for i in range(24))]),
        "a: &a\n  _target_: shop.net.Net\n  sum: *a\n",
        "dim_depth_Net: " + "[" * 20_000,
        "_target_: shop.net.Net\ndim: ${width}\ndepth: 1\n",
        "_target_: shop.net.Net\ndim: !!bool maybe\n",
        "_target_: other.net.Net\ndim: 1\ndepth: 1\n",
        "Net: 1\n" * 100_000,
    ],
)
def test_hostile_and_open_configurations_say_nothing(sites, text):
    assert not sites({"conf.yaml": text})


def test_nothing_outside_of_the_project_is_read(sites, tmp_path):
    outside = tmp_path.parent / f"{tmp_path.name}-outside.yaml"
    outside.write_text("_target_: shop.net.Net\ndim: 3\ndepth: 4\n")
    (tmp_path / "link.yaml").symlink_to(outside)
    os.mkfifo(tmp_path / "pipe.yaml")
    assert not sites({})


@pytest.mark.parametrize("cell", ["dim = 16\n", "if True:\n    !pip install x\ndim = 16\n"])
def test_cells_of_a_notebook_share_their_names(sites, cell):
    written = [{"cell_type": "code", "source": text} for text in (IMPORT, "not python\n", cell, "net = Net(dim, 2)\n")]
    (site,) = sites({"explore.ipynb": json.dumps({"cells": written})})
    assert site.kwargs == {"dim": 16, "depth": 2}
