"""Documented classes that get a diagram: autodoc and mkdocstrings agree."""

from __future__ import annotations

import sys

import griffe
import msgspec
import pytest
from sphinx.ext.autodoc.mock import mock

from graphs import small_graph
from mkdocs_modeldiagrams import griffe_extension
from modeldiagrams.engine.diagram import Diagram
from modeldiagrams.hosting.documented_classes import is_module, is_selected, list_names
from option_helpers import make_options
from sphinx_modeldiagrams import autodoc

LIBRARIES = ["torch", "lightning", "transformers", "mmengine", "injector", "absent"]
IMPORTS = "import ast, torch, lightning, transformers, mmengine, injector, absent\nfrom torch import nn\n"
CLASSES = {
    "class Net(nn.Module): pass": True,
    "class Net(torch.nn.modules.module.Module): pass": True,
    "class Net(nn.Linear): pass": True,
    "class Net(nn.ParameterList): pass": True,
    "class Base(nn.Module): pass\nclass Net(Base): pass": True,
    "class Mixin: pass\nclass Net(Mixin, nn.Module): pass": True,
    "class Net(lightning.LightningModule): pass": True,
    "class Net(mmengine.model.BaseModule): pass": True,
    "class Net(transformers.PreTrainedModel): pass": True,
    "class Base(transformers.BertPreTrainedModel): pass\nclass Net(Base): pass": True,
    "class Net: pass": False,
    "class Net(dict): pass": False,
    "class Module: pass\nclass Net(Module): pass": False,
    "class Net(nn.Parameter): pass": False,
    "class Net(nn.Buffer): pass": False,
    "class Net(torch.utils.data.Dataset): pass": False,
    "class Net(torch.jit.ScriptModule): pass": True,
    "class Net(injector.Module): pass": False,
    "class Net(ast.Module): pass": False,
    "class Net(absent.PluginModule): pass": False,
    "class Net(absent.Net): pass": False,
}


@pytest.mark.parametrize(("source", "expected"), CLASSES.items())
def test_autodoc_and_griffe_agree_which_classes_are_modules(source, expected, tmp_path, monkeypatch):
    (tmp_path / "zoo.py").write_text(IMPORTS + source)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "zoo", raising=False)
    with mock(LIBRARIES):
        namespace: dict[str, type] = {"__name__": "zoo"}
        exec(IMPORTS + source, namespace)  # noqa: S102  (autodoc imports what it documents)
    package = griffe.load("zoo", search_paths=[tmp_path], allow_inspection=False)
    assert autodoc._is_module(namespace["Net"]) == expected
    assert griffe_extension._is_module(package["Net"]) == expected


@pytest.mark.parametrize(("base", "expected"), [("nn.Module", True), ("injector.Module", False), ("Module", False)])
def test_base_whose_import_cannot_be_followed_is_judged_by_its_name(base, expected):
    assert is_module([], [base]) == expected


def test_autodoc_judges_imported_classes_by_their_bases_alone():
    from torch import nn  # noqa: PLC0415
    from torch.nn.utils.rnn import PackedSequence  # noqa: PLC0415

    class Batch(PackedSequence):
        """Lives in torch.nn, and is a tuple."""

    class Net(nn.Linear):
        """A module through its base class."""

    assert autodoc._is_module(Net)
    assert not any(map(autodoc._is_module, (Batch, nn.Parameter, nn.Module, 3)))


@pytest.mark.parametrize(
    ("setting", "expected"),
    [(True, True), (False, False), ([], False), (["pkg.*"], True), (("*.N?t",), True), (["pkg.other.*"], False)],
)
def test_setting_selects_classes_by_name(setting, expected):
    assert is_selected(setting, "pkg.nets.Net") == expected


@pytest.mark.parametrize(
    ("model", "defined", "own_names", "expected"),
    [
        ("pkg.Net", "pkg.models.Net", ("pkg.Net", "pkg.models.Net"), ["pkg.Net", "pkg.models.Net"]),
        # a snapshot, or a graph file
        ("pkg.Net", "pkg.models.Net", (), ["pkg.Net", "pkg.models.Net"]),
        ("graphs/net.json", "pkg.models.Net", (), ["pkg.models.Net"]),
        # a factory, whose class may have another diagram
        ("pkg.small_net", "pkg.models.Net", (), ["pkg.small_net"]),
    ],
)
def test_names_of_a_diagram_are_those_of_its_class(model, defined, own_names, expected):
    graph = small_graph()
    graph = msgspec.structs.replace(graph, model=msgspec.structs.replace(graph.model, class_=defined))
    diagram = Diagram(id="net", options=make_options(model=model), graph=graph, own_names=own_names)
    assert list_names(diagram) == expected
