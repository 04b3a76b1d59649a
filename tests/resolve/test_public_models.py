"""The models that an author's words mean. `make zoo` compares the lists of real libraries with their registries."""

from __future__ import annotations

import inspect

import pytest
from torch import nn

from modeldiagrams.resolve.libraries.public_models import find_models

NET = "from torch import nn\nclass Net(nn.Module): pass\n"
BUILDERS = """
from __future__ import annotations
import pathlib, functools
from typing import TYPE_CHECKING, Any, Optional, TypeVar, Union
from torch import nn as layers
if TYPE_CHECKING:
    from torch import nn
    from lib.blocks import Block

T = TypeVar("T", bound=layers.Module)

class Net(layers.Module): pass
class Head(layers.Module): pass
class Config: pass

def plain(width: int = 8, *args: str, **kwargs: Any) -> Net: raise AssertionError
def needs_config(config: Config) -> layers.Module: raise AssertionError
def for_checkers() -> nn.Module: raise AssertionError
def of_other_module() -> Block: raise AssertionError
def maybe() -> Optional[Head]: raise AssertionError
def either() -> Net | tuple[Net, int]: raise AssertionError
def variable() -> T: raise AssertionError
@functools.wraps(plain)
def wrapped(*args, **kwargs): raise AssertionError
@functools.wraps(functools.partial(plain))
def bound(): raise AssertionError
short = plain

def by_name(name: str) -> layers.Module: raise AssertionError
def load(path: str | pathlib.Path) -> Net: raise AssertionError
def freeze(net: layers.Module, much: bool = True) -> layers.Module: raise AssertionError
def change(net: T) -> T: raise AssertionError
def sizes() -> list[Net]: raise AssertionError
def kind() -> type[Net]: raise AssertionError
def unknown() -> Missing: raise AssertionError
def silent(): raise AssertionError
def _private() -> Net: raise AssertionError
"""
LAZY = """
import importlib
__all__ = ["BertModel", "BertConfig", "GptModel", "Broken", "models"]
def __getattr__(name):
    if name == "Broken":
        raise ImportError("needs more")
    module = importlib.import_module("lib.models.bert" if name.startswith("Bert") else "lib.models")
    return module if name == "models" else getattr(module, name)
"""
BERT = "from torch import nn\nclass BertModel(nn.Module): pass\nclass BertConfig: pass\n"
RE_EXPORTS = {
    "__init__.py": "from lib.nets.small import Small\nfrom .helpers import seed\n",
    "nets/__init__.py": "",
    "nets/small.py": NET.replace("Net", "Small"),
    "nets/unnamed.py": NET,
    "helpers.py": NET.replace("Net", "Help") + "def seed(): pass\n",
    "zoo/__init__.py": "from lib._inside import Inner\nfrom lib.nets.small import Small\nfrom torch.nn import Linear\n",
    "_inside.py": NET.replace("Net", "Inner"),
    "tests/__init__.py": "raise AssertionError",
    "test_nets.py": "raise AssertionError",
    "_private.py": "raise AssertionError",
}
MODULES = {
    "__init__.py": "__all__ = ['one']",
    "one.py": NET + "class _Base(nn.Module): pass\n",
    "two.py": "from lib.one import Net\n" + NET.replace("Net", "Other"),
    "chosen.py": "__all__ = ['Net', 'Own', None, []]\nfrom lib.one import Net\n" + NET.replace("Net", "Own"),
    "_inside.py": NET.replace("Net", "Inner"),
}
REGISTRY = {
    "__init__.py": "def list_models(): return ['tiny']\n",
    "nets.py": NET + "def tiny(pretrained=False): raise AssertionError\ndef other(): raise AssertionError\n",
}
BROKEN = {"__init__.py": "", "good.py": NET, "bad.py": "\nimport missing_package\n"}
ONE_MODULE = {"__init__.py": "", "nets.py": BUILDERS, "blocks.py": NET.replace("Net", "Block")}
BUILT = [f"nets.{name}" for name in ("either", "for_checkers", "maybe", "needs_config", "plain", "variable", "wrapped")]


@pytest.fixture
def find(tmp_path, monkeypatch):
    """List the models of a package `lib` with these files."""

    def found(files, *of, exclude=()):
        for name, text in files.items():
            (tmp_path / "lib" / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "lib" / name).write_text(text)
        monkeypatch.syspath_prepend(tmp_path)
        names, problems = find_models(of, exclude)
        return [name.removeprefix("lib.") for name in names], list(problems)

    monkeypatch.setattr("sys.modules", {**__import__("sys").modules})
    return found


@pytest.mark.parametrize(
    ("files", "of", "expected"),
    [
        pytest.param(ONE_MODULE, "lib.nets", BUILT, id="builders, or else classes"),
        pytest.param(ONE_MODULE, "lib", ["blocks.Block", "nets.of_other_module", *BUILT], id="all are known"),
        pytest.param(RE_EXPORTS, "lib", ["Small", "helpers.Help", "zoo.Inner"], id="what a package names, or else all"),
        pytest.param(RE_EXPORTS, "lib.nets", ["nets.small.Small", "nets.unnamed.Net"], id="another package of these"),
        pytest.param(RE_EXPORTS, "lib.zoo", ["zoo.Inner", "zoo.Small"], id="a package names what it imports"),
        pytest.param(MODULES, "lib", ["chosen.Own", "one.Net", "two.Other"], id="a package of modules"),
        pytest.param(MODULES, "lib.two", ["two.Other"], id="a module uses what it imports"),
        pytest.param(MODULES, "lib.chosen", ["chosen.Net", "chosen.Own"], id="a module with __all__"),
        pytest.param(REGISTRY, "lib", ["nets.Net", "nets.tiny"], id="a registry"),
        pytest.param(ONE_MODULE, "lib.*e??", ["nets.Head", "nets.for_checkers"], id="a pattern"),
        pytest.param(ONE_MODULE, "lib.nets:silent", ["nets.silent"], id="a function by name"),
        pytest.param(MODULES, "lib.one._Base", ["one._Base"], id="a class by name"),
        pytest.param({"__init__.py": NET + "net = Net()"}, "lib.net", ["net"], id="an instance by name"),
        pytest.param(ONE_MODULE, "lib.nets.short", ["nets.short"], id="another name"),
    ],
)
def test_words_mean_models(find, files, of, expected):
    assert find(files, of) == (sorted(expected), [])


def test_an_object_has_its_shortest_name(find):
    assert find(RE_EXPORTS, "lib.nets", "lib", "lib.zoo.Small") == (
        ["Small", "helpers.Help", "nets.unnamed.Net", "zoo.Inner"],
        [],
    )


def test_a_lazy_package_means_its_names(find):
    files = {"__init__.py": LAZY, "models/__init__.py": NET.replace("Net", "GptModel"), "models/bert.py": BERT}
    problem = "lib.Broken can't be imported (ImportError: needs more)"
    assert find(files, "lib") == (["BertModel", "GptModel"], [problem])
    assert find(files, "lib.*Model") == (["BertModel", "GptModel"], [])
    assert find(files, "lib.Bert*") == (["BertModel"], [])


@pytest.mark.parametrize(
    ("exclude", "expected"),
    [
        (["Other"], ["chosen.Own", "one.Net"]),
        (["lib.chosen", "*.t*er"], ["one.Net"]),
        (["lib.one.*"], ["chosen.Net", "chosen.Own", "two.Other"]),
    ],
)
def test_names_and_modules_can_be_excluded(find, exclude, expected):
    assert find(MODULES, "lib", exclude=exclude) == (expected, [])


def test_an_excluded_module_is_not_imported(find):
    assert find(BROKEN, "lib", exclude=["lib.bad"]) == (["good.Net"], [])


@pytest.mark.parametrize(
    ("files", "of", "problem"),
    [
        (MODULES, "lib.none", "module 'lib' has no attribute 'none'; did you mean 'one'?"),
        (MODULES, "lib._inside.nn.functional.relu.x", "object 'lib._inside.nn.functional.relu' has no attribute 'x'"),
        (MODULES, "libs", "no module named 'libs'; did you mean 'lib'?"),
        (
            {"__init__.py": "x = 1"},
            "lib",
            "lib has no public nn.Module classes or functions annotated to return one; name them (`lib.…`), or",
        ),
        (MODULES, "lib.tow.*Net", "module 'lib' has no attribute 'tow'; did you mean 'two'?"),
        (REGISTRY, "lib.*Nett", "no model matches 'lib.*Nett'; did you mean 'lib.nets.Net'?"),
        (MODULES, "*Net", "the pattern '*Net' names no package to look in; write `mypkg.*Net`"),
        (MODULES, "lib.one.Net.*", "expected a package or module, got lib.one.Net, an object of the class"),
        (ONE_MODULE, "lib.nets.Config", "expected a torch.nn.Module, or a class or function of one, got lib.nets.Con"),
        (MODULES, "lib.one.__name__", "expected a torch.nn.Module, or a class or function of one, got lib.one.__name_"),
        ({"__init__.py": "1 / 0"}, "lib", "importing 'lib' raised ZeroDivisionError: division by zero (lib/__init__.p"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(find, files, of, problem):
    names, problems = find(files, of)
    assert (names, len(problems)) == ([], 1)
    assert problems[0].startswith(problem)


def test_what_is_right_is_listed_all_the_same(find):
    problem = "importing 'lib.bad' raised ModuleNotFoundError: No module named 'missing_package' (lib/bad.py:2 in <mod"
    names, (first, second) = find(BROKEN, "lib.None", "lib", "lib.*")
    assert (names, first) == (["good.Net"], "module 'lib' has no attribute 'None'")
    assert second.startswith(problem)


def test_everything_excluded_is_said(find):
    assert find(MODULES, "lib.one", exclude=["*"]) == ([], ["the option `exclude` leaves out all models"])


def test_layers_of_torch_are_its_public_classes():
    names, problems = find_models(["torch.nn.modules"], [])
    wanted = {
        f"torch.nn.modules.{name}"
        for name, value in inspect.getmembers(nn.modules, inspect.isclass)
        if issubclass(value, nn.Module) and value is not nn.Module and name in nn.modules.__all__
    }
    assert len(wanted) > 150
    assert {name for name in names if name.count(".") == 3} == wanted
    assert problems == ()


def test_names_that_python_code_cannot_write_are_left_out(find):
    odd = 'for _ in ("a\\nb", "../up", "<b>", "x y", "a" * 320, "fine"): globals()[_] = type(_, (nn.Module,), {})'
    files = {"__init__.py": "", "odd.py": f"{NET}{odd}\n__all__ = [name for name in globals() if name[0] != '_']"}
    assert find(files, "lib.odd") == (["odd.Net", "odd.fine"], [])
