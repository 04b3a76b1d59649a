"""What a model is made of that is not the user's own, and the names its classes go by."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest
from torch import nn

from modeldiagrams.diagrams import Diagram
from modeldiagrams.host import link_names
from modeldiagrams.options import Options
from modeldiagrams.worker.origins import has_twin, libraries, public_names


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


def test_a_library_that_a_class_only_inherits_from_counts():
    model = nn.Sequential(layer("mypkg.models", base=layer("yaml.nodes"))())
    assert libraries(model, ["mypkg.models:Model"], ()) == ("PyYAML",)


def test_what_the_users_modules_import_counts_but_not_what_others_do(package):
    import click  # noqa: PLC0415
    import yaml  # noqa: PLC0415

    package("mypkg.helpers", "/src/mypkg/helpers.py", dump=yaml.dump, path=sys.path)
    package("other", "/src/other.py", click=click)
    assert libraries(nn.Linear(1, 1), ["mypkg.Model"], ("/src/mypkg/helpers.py",)) == ("PyYAML",)


def test_nothing_of_an_object_is_run(package):
    class Trap:
        def __getattribute__(self, name):
            raise SystemExit(name)

    package("mypkg.trap", "/src/mypkg/trap.py", trap=Trap())
    assert libraries(nn.Linear(1, 1), ["mypkg.Model"], ("/src/mypkg/trap.py",)) == ()


def test_a_twin_is_another_class_of_the_same_letters(package):
    class Net(nn.Linear):
        """Has an inner class."""

    package("mypkg", Net=Net, net=ModuleType("mypkg.net"), Other=Net, OTHER=Net, CONSTANT=3, Constant=Net)
    twins = [path for path in ("mypkg.Net", "mypkg:Other", "mypkg.OTHER", "mypkg.Constant", "x.Y") if has_twin(path)]
    assert twins == ["mypkg:Other", "mypkg.OTHER"]


def test_the_package_that_the_author_names_counts():
    assert libraries(nn.Linear(1, 1), ["yaml.factory"], ()) == ("PyYAML",)


def test_a_class_is_known_by_the_names_it_is_exported_under(package):
    block = layer("pkg.vision.blocks")
    package("pkg.vision.blocks", Block=block)
    package("pkg.vision")
    package("pkg", Block=block)
    assert public_names(nn.Sequential(block())) == {"pkg.vision.blocks.Block": ("pkg.Block",)}


def test_another_class_of_the_same_short_name_is_not_it(package):
    block = layer("pkg.vision.blocks")
    package("pkg.vision.blocks", Block=block)
    package("pkg", Block=layer("pkg.text"))
    assert public_names(nn.Sequential(block())) == {}


def test_a_class_made_in_a_function_has_no_other_name(package):
    block = layer("pkg.vision")
    block.__qualname__ = "make.<locals>.Block"
    package("pkg.vision")
    package("pkg", Block=block)
    assert public_names(nn.Sequential(block(), nn.Linear(1, 1))) == {}


def test_links_try_the_names_of_this_very_class_and_no_others():
    names = {"pkg.vision.blocks.Block": ("pkg.vision.Block",)}
    diagram = Diagram(id="x", options=Options(model="x"), names=names)
    assert link_names(diagram, "pkg.vision.blocks.Block") == ["pkg.vision.blocks.Block", "pkg.vision.Block"]
    assert link_names(diagram, "pkg.text.Block") == ["pkg.text.Block"]
    assert link_names(diagram, "torch.nn.modules.linear.Linear") == [
        "torch.nn.modules.linear.Linear",
        "torch.nn.Linear",
    ]
