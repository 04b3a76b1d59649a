"""Arguments as the project itself writes them: read from tests, documentation and scripts, never run."""

from __future__ import annotations

import sys

import pytest
import yaml

from modeldiagrams.options.parsing import parse_options
from modeldiagrams.target import resolve

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
class Scripted(Base): ...
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
SCRIPT = """
import argparse
from evident.models import Scripted
parser = argparse.ArgumentParser()
parser.add_argument("--n-in", type=int, default=21)
args = parser.parse_args()
model = Scripted(args.n_in, 6)
raise RuntimeError("importing must not run this")
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
        "scripts/train.py": SCRIPT,
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
        ("Scripted", {"n_in": 21, "n_out": 6}, "scripts/train.py:7"),
        ("Shown", {"n_in": 8, "n_out": 16}, "README.md:6"),
        ("Ran", {"n_in": 5, "n_out": 6, "act": {"_object_": "torch.nn.Tanh"}}, "evident/models.py:49"),
        ("Wrapped", {"encoder": {"_target_": "evident.models.Encoder", "_args_": [11]}}, "evident/models.py:51"),
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
        assert ("kwargs.n_out", str(width), "as in conf/alone.yaml:3") in {
            (item.subject, item.value, item.reason) for item in target.assumptions
        }
