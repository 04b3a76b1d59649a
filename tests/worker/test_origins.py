"""The libraries that a model uses, and the public names of its classes."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest
from torch import nn

from modeldiagrams.engine.diagram import Diagram
from modeldiagrams.hosting.host import list_link_names
from modeldiagrams.worker.origins import find_public_name, find_public_names, has_case_variant, list_libraries
from option_helpers import make_options


@pytest.fixture
def package(monkeypatch):
    """Makes loaded modules of nothing."""

    def made(name: str, file: str | None = None, **contents: object) -> ModuleType:
        module = ModuleType(name)
        module.__file__ = file
        vars(module).update(contents)
        monkeypatch.setitem(sys.modules, name, module)
        return module

    return made


def layer(module: str, name: str = "Block", base: type = nn.Linear) -> type:
    """A class as a module would define it."""
    return type(name, (base,), {"__module__": module, "__init__": nn.Module.__init__})


def test_libraries_include_those_of_base_classes():
    assert list_libraries([layer("mypkg.models", base=layer("yaml.nodes"))], ["mypkg.models:Model"], ()) == ("PyYAML",)


def test_libraries_include_imports_of_the_users_modules_only(package):
    import click  # noqa: PLC0415
    import yaml  # noqa: PLC0415

    package("mypkg.helpers", "/src/mypkg/helpers.py", dump=yaml.dump, path=sys.path)
    package("other", "/src/other.py", click=click)
    assert list_libraries([nn.Linear], ["mypkg.Model"], ("/src/mypkg/helpers.py",)) == ("PyYAML",)


def test_libraries_run_no_code_of_objects(package):
    class Trap:
        def __getattribute__(self, name):
            raise SystemExit(name)

    package("mypkg.trap", "/src/mypkg/trap.py", trap=Trap())
    assert list_libraries([nn.Linear], ["mypkg.Model"], ("/src/mypkg/trap.py",)) == ()


class Refuses(type):
    """Says nothing of its classes."""

    def __getattribute__(cls, name):
        raise RuntimeError(name)


def test_metaclass_that_refuses_questions_is_not_asked(package):
    silent = Refuses("Silent", (nn.Linear,), {"__module__": "mypkg.models"})
    package("mypkg.models", "/src/mypkg/models.py", Silent=silent)
    package("mypkg", Silent=silent)
    assert list_libraries([silent], ["mypkg.models.Net"], ("/src/mypkg/models.py",)) == ()
    assert find_public_names([silent]) == {"mypkg.models.Silent": ("mypkg.Silent",)}


def test_case_variant_is_another_callable_of_the_same_letters(package):
    class Net(nn.Linear):
        """Has an inner class."""

    package("mypkg", Net=Net, net=ModuleType("mypkg.net"), Other=Net, OTHER=Net, CONSTANT=3, Constant=Net)
    paths = ["mypkg.Net", "mypkg:Other", "mypkg.OTHER", "mypkg.Constant", "x.Y"]
    assert [*filter(has_case_variant, paths)] == ["mypkg:Other", "mypkg.OTHER"]


def test_libraries_include_the_package_that_the_author_names():
    assert list_libraries([nn.Linear], ["yaml.factory"], ()) == ("PyYAML",)


def test_public_names_are_those_that_packages_export(package):
    block = layer("pkg.vision.blocks")
    package("pkg.vision.blocks", Block=block)
    package("pkg.vision")
    package("pkg", Block=block)
    assert find_public_names([nn.Sequential, block]) == {"pkg.vision.blocks.Block": ("pkg.Block",)}


def test_public_names_exclude_another_class_of_the_same_name(package):
    block = layer("pkg.vision.blocks")
    package("pkg.vision.blocks", Block=block)
    package("pkg", Block=layer("pkg.text"))
    assert find_public_names([nn.Sequential, block]) == {}


def test_module_whose_import_is_forbidden_exports_nothing(package, monkeypatch):
    """As after ``sys.modules["mypkg"] = None``."""
    block = layer("mypkg.deep")
    package("mypkg.deep", Block=block)
    monkeypatch.setitem(sys.modules, "mypkg", None)
    assert find_public_names([block]) == {}
    assert find_public_name(block) == "mypkg.deep.Block"


def test_public_name_is_the_shortest_even_if_the_package_is_lazy(package, monkeypatch):
    block = layer("pkg.vision.blocks")
    package("pkg.vision.blocks", Block=block)
    package("pkg.vision")
    lazy = package("pkg")
    assert find_public_name(block) == "pkg.vision.blocks.Block"
    monkeypatch.setattr(lazy, "__getattr__", {"Block": block}.__getitem__, raising=False)
    assert find_public_name(block) == "pkg.Block"
    monkeypatch.setattr(lazy, "__getattr__", {"Block": layer("pkg.text")}.__getitem__, raising=False)
    assert find_public_name(block) == "pkg.vision.blocks.Block"


def test_class_that_no_module_holds_has_no_public_name(package):
    block = layer("pkg.vision")
    assert find_public_name(block) is None
    package("pkg.vision", make=len)
    block.__qualname__ = "make.<locals>.Block"
    assert find_public_name(block) is None


def test_class_made_in_a_function_has_no_public_name(package):
    block = layer("pkg.vision")
    block.__qualname__ = "make.<locals>.Block"
    package("pkg.vision")
    package("pkg", Block=block)
    assert find_public_names([block, nn.Linear]) == {}


def test_links_try_only_names_of_the_same_class():
    names = {"pkg.vision.blocks.Block": ("pkg.vision.Block",)}
    diagram = Diagram(id="x", options=make_options(model="x"), names=names)
    assert list_link_names(diagram, "pkg.vision.blocks.Block") == ["pkg.vision.blocks.Block", "pkg.vision.Block"]
    assert list_link_names(diagram, "pkg.text.Block") == ["pkg.text.Block"]
    assert list_link_names(diagram, "torch.nn.modules.linear.Linear") == [
        "torch.nn.modules.linear.Linear",
        "torch.nn.Linear",
    ]
