"""Diagrams of documented classes, in every way of documenting them."""

from __future__ import annotations

import json
import re
import shutil
import textwrap
from pathlib import Path

import pytest
from sphinx.util.inventory import InventoryFile

MODELS = '''
"""A package as people document it."""

import torch
from torch import nn

__all__ = ["Abstract", "Both", "Chosen", "Data", "Empty", "Interface", "Lost", "Net", "Not", "make_net", "other"]


class Net(nn.Module):
    """A net.

    Args:
        width: How wide.
    """

    def __init__(self, width: int = 4) -> None:
        super().__init__()
        self.fc = nn.Linear(width, 2)

    def forward(self, x):
        return self.fc(x)


class Empty(Net):
    pass


class Chosen(Net):
    """A net with options.

    :model-graph: {args: [8], inputs: [1, 8],
      caption: Eight wide}
    """

    def __init__(self, width: int = 4) -> None:
        """Make it."""
        super().__init__(width)


class Not(Net):
    """A net without a diagram.

    :model-graph: false
    """


class Both(Net):
    """Two docstrings, one diagram."""

    def __init__(self) -> None:
        """Make it."""
        super().__init__()


class Abstract(nn.Module):
    """A base class that can't be made."""

    def __init__(self, backbone) -> None:
        super().__init__()
        backbone.no_such_thing()


class Interface(nn.Module):
    """A base class that holds nothing yet."""


class Lost(Net):
    """Takes something that nobody can guess."""

    def forward(self, secret):
        raise LookupError(secret.no_such_thing())


def make_net():
    """A net of a function.

    :model-graph: {inputs: [1, 4]}
    """
    return Net()


def other():
    """No model."""


class Data(torch.utils.data.Dataset):
    """No module."""
'''

CONF = """
import sys, pathlib
sys.path.insert(0, str(pathlib.Path(__file__).parent))
extensions += ["sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.napoleon"]
autodoc_mock_imports = ["torch"]
autoclass_content = "both"
nitpicky = True
nitpick_ignore_regex = [("py:class", "torch.*"), ("py:obj", "nets.*.forward")]
autosummary_generate = True
templates_path = []
"""

SUMMARY = """
.. currentmodule:: nets

.. autosummary::
   :toctree: generated

   Net
   Empty
   Not
"""


@pytest.fixture(scope="module")
def sites(make_site, build, tmp_path_factory):
    """Builds a site that documents `nets` its way; tells the folder and what was said."""

    def built(conf: str, *arguments: str, **pages: str):
        # all in one place: the models are the same for all of these sites, and what is kept of them is by folder
        source = tmp_path_factory.getbasetemp() / "autodoc"
        shutil.rmtree(source, ignore_errors=True)
        make_site(CONF + conf, **pages).rename(source)
        (source / "nets.py").write_text(textwrap.dedent(MODELS))
        out = tmp_path_factory.mktemp("autodoc") / "out"
        result = build(source, out, "-W", "--keep-going", *arguments)
        assert result.returncode == 0, result.stderr
        return out

    return built


def diagrams(page: str) -> list[str]:
    """Ids of a page's diagrams."""
    return re.findall(r'<model-graph graph="([^"]*)"', page)


def test_every_documented_module_has_its_diagram(sites):
    out = sites("modeldiagrams_autodoc = True", page=".. automodule:: nets\n   :members:\n")
    page = (out / "page.html").read_text("utf-8")
    names = [name.partition("-")[0] for name in diagrams(page)]
    assert names == ["nets.Both", "nets.Chosen", "nets.Empty", "nets.Net", "nets.make_net"]
    assert "mg-problem" not in page
    assert "model-graph:" not in page
    assert "option" not in re.sub(r"A net with options|<[^>]*>", "", page), "readers need no advice to authors"
    assert "Eight wide" in page
    assert "modeldiagrams/prose.js" in page  # what is documented lights its part
    # below its docstring, inside the description of its class
    assert re.search(r'id="nets.Net">.*How wide.*graph="nets.Net"', page, re.DOTALL)


def test_patterns_select_classes_and_fields_always_request_a_diagram(sites):
    out = sites('modeldiagrams_autodoc = ["*.N*"]', page=".. automodule:: nets\n   :members:\n")
    names = [name.partition("-")[0] for name in diagrams((out / "page.html").read_text("utf-8"))]
    assert names == ["nets.Chosen", "nets.Net", "nets.make_net"]


def test_autosummary_pages_have_diagrams_and_its_table_has_none(sites):
    out = sites("modeldiagrams_autodoc = True", page=SUMMARY)
    assert diagrams((out / "generated" / "nets.Net.html").read_text("utf-8")) == ["nets.Net"]
    assert diagrams((out / "generated" / "nets.Empty.html").read_text("utf-8")) == ["nets.Empty"]
    assert diagrams((out / "generated" / "nets.Not.html").read_text("utf-8")) == []
    table = (out / "page.html").read_text("utf-8")
    assert "model-graph" not in table
    assert "modeldiagrams-autodoc" not in table


def test_requested_diagram_wins_over_automatic_one_as_target(sites):
    automatic = ".. autoclass:: nets.Net\n\n.. autoclass:: nets.Empty\n"
    explicit = "See :model-graph:`nets.Net` and :model-graph:`nets.Empty`.\n\n.. model-graph:: nets.Net\n"
    out = sites("modeldiagrams_autodoc = True", a_first=automatic, own=explicit)
    page = (out / "own.html").read_text("utf-8")
    assert re.findall(r'<a class="reference internal" href="([^"]*)"[^>]*><code', page)[:2] == [
        "#model-graph-nets.Net",
        "a_first.html#model-graph-nets.Empty",
    ]


def test_malformed_field_warns_with_its_docstring(make_site, build, tmp_path):
    source = make_site(CONF, page=".. autoclass:: odd.Net\n")
    (source / "odd.py").write_text('from torch import nn\nclass Net(nn.Module):\n    """:model-graph: sometimes"""\n')
    result = build(source, tmp_path / "out")
    assert "odd.py:docstring of odd.Net: WARNING: model-graph: the field `:model-graph:`: exp" in result.stderr


def test_setting_without_autodoc_is_ignored(make_site, build, tmp_path):
    result = build(make_site("modeldiagrams_autodoc = True", page="Plain."), tmp_path / "out", "-W")
    assert result.returncode == 0, result.stderr


def write_shapes(source: Path) -> None:
    """A package that exports a class of one of its modules, so that it has two names."""
    (source / "shapes").mkdir()
    (source / "shapes" / "__init__.py").write_text("from .models import Classifier\n")
    (source / "shapes" / "models.py").write_text(
        "from torch import nn\nclass Classifier(nn.Module):\n    '''A net.'''\n"
        "    def __init__(self):\n        super().__init__()\n        self.head = nn.Linear(4, 2)\n"
        "    def forward(self, x):\n        return self.head(x)\n"
        "class Other(Classifier):\n    '''Another net.'''\n"
    )


def test_class_under_two_names_is_one_diagram(make_site, build, tmp_path):
    """The author names it as the package exports it, autodoc as its module does."""
    pages = {
        "api": ".. autoclass:: shapes.models.Classifier\n",
        "model": ".. model-graph:: shapes.Classifier\n",
        "use": ":model-graph:`shapes.models.Classifier`, :model-graph:`shapes.Classifier`,\n"
        ":model-graph:`shapes.models.Classifier#head`\n",
    }
    source = make_site(f"{CONF}\nmodeldiagrams_autodoc = True", **pages)
    write_shapes(source)
    result = build(source, tmp_path / "out", "-W", verbosity="-N")
    assert result.returncode == 0, result.stderr
    assert result.stdout.count("tracing ") == 1
    use = (tmp_path / "out" / "use.html").read_text("utf-8")
    found = re.findall(r'<a class="reference internal" href="(model.html#[^"]*)"[^>]*><code', use)
    assert found[:2] == ["model.html#model-graph-shapes.Classifier"] * 2
    assert len(found) == 3
    (listed,) = json.loads((tmp_path / "out" / "modeldiagrams" / "index.json").read_text("utf-8"))["diagrams"]
    assert listed["model"] == "shapes.Classifier"
    assert [page.partition("#")[0] for page in listed["pages"]] == ["api.html", "model.html"]
    inventory = InventoryFile.loads((tmp_path / "out" / "objects.inv").read_bytes(), uri="")
    names = inventory.data["modeldiagrams:diagram"]
    assert list(names) == ["shapes.Classifier", "shapes.models.Classifier"]
    assert len({names[name].uri for name in names}) == 1


def test_the_authors_diagram_replaces_the_automatic_one(make_site, build, tmp_path):
    """As if autodoc had added nothing; on another page, it does. Pages are read by several processes."""
    net, other = (f".. autoclass:: shapes.models.{name}\n   :no-index:\n" for name in ("Classifier", "Other"))
    own = ".. model-graph:: shapes.Classifier\n   :no-index:\n"
    pages = {
        "below": f"{net}\n{other}\n{own}",
        "above": f"{own}\n{other}\n{net}",
        "same_name": f"{net}\n{own.replace('.Classifier', '.models.Classifier')}",
        "nested": f".. note::\n\n   .. note::\n\n{textwrap.indent(net, ' ' * 6)}\n{own}",
        "tour": f"{net}\n.. model-tour:: shapes.Classifier\n   :no-index:\n\n   .. tour-step:: Look\n",
        "elsewhere": net,
        "compared": f"{net}\n.. model-diff:: shapes.Classifier\n   :before: shapes.models.Other\n   :no-index:\n",
    }
    source = make_site(f"{CONF}\nmodeldiagrams_autodoc = True", **pages)
    write_shapes(source)
    result = build(source, tmp_path / "out", "-W", "--keep-going", "-j", "2")
    assert result.returncode == 0, result.stderr
    texts = {name: (tmp_path / "out" / f"{name}.html").read_text("utf-8") for name in pages}
    shown = {name: [id_.partition("-")[0] for id_ in diagrams(text)] for name, text in texts.items()}
    once = ["shapes.Classifier"]
    assert shown.pop("below") == ["shapes.models.Other", *once]
    assert shown.pop("above") == [*once, "shapes.models.Other"]
    assert texts["compared"].count("<figure") == 2  # a comparison says less of the class
    assert shown == dict.fromkeys(shown, once)
    # the anchor that the author's has alone
    assert 'id="model-graph-shapes.models.Classifier"' in texts["same_name"]
