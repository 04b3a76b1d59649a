"""A model depends on the right files, and on no others."""

from __future__ import annotations

import pytest

from option_helpers import make_options

NET = """
from torch import nn
{imports}

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, {width})

    def forward(self, x):
        return {result}
"""
FAMILY = """
from .sizes import WIDTH
from .one import Net
from .two import Net as Other
from . import tools
"""
LAZILY = """
def helped(net, x):
    from helper import act
    return act(net.fc(x))
"""
REGISTRY = """
import importlib

def make(name):
    return importlib.import_module(name).Net()
"""
FILES = {
    "family/__init__.py": FAMILY,
    "family/one.py": NET.format(imports="from . import WIDTH", width="WIDTH", result="self.fc(x)"),
    "family/two.py": NET.format(imports="from .tools import act", width="2", result="act(self.fc(x))"),
    "family/sizes.py": "from .deep.est import WIDTH",
    "family/deep/__init__.py": "",
    "family/deep/est.py": "WIDTH = 3",
    "family/tools.py": "def act(x):\n    return x.relu()\n",
    "family/inputs.py": "import torch\n\ndef some():\n    return torch.zeros(1, 4)\n",
    "alone.py": NET.format(imports="", width="2", result="self.fc(x)"),
    "lazy.py": NET.format(imports="", width="2", result="helped(self, x)") + LAZILY,
    "helper.py": "def act(x):\n    return x.tanh()\n",
    "registry.py": REGISTRY,
}
CASES = {
    "family.one.Net": {"family/__init__.py", "family/one.py", "family/sizes.py", "family/deep/est.py"},
    "family.Net": {"family/__init__.py", "family/one.py", "family/sizes.py", "family/deep/est.py"},
    "family.Other": {"family/__init__.py", "family/two.py", "family/tools.py"},
    "alone.Net": {"alone.py"},
    "lazy.Net": {"lazy.py", "helper.py"},
    "registry.make": {"registry.py", "alone.py"},
}


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("project")
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(text)
    return folder


@pytest.mark.parametrize("model", [*CASES, *reversed(CASES)])
def test_model_depends_on_its_own_code_and_its_imports(model, project, worker):
    arguments = {"args": ["alone"]} if model == "registry.make" else {}
    answer = worker.trace(make_options(model=model, inputs=[1, 4], **arguments), [project])
    found = {file.removeprefix(f"{project}/") for file in answer.sources}
    assert found - {"family/deep/__init__.py"} == CASES[model]


def test_sources_include_the_function_that_makes_inputs(project, worker):
    answer = worker.trace(make_options(model="alone.Net", inputs_from="family.inputs.some"), [project])
    assert f"{project}/family/inputs.py" in answer.sources
    assert f"{project}/family/two.py" not in answer.sources


def test_edit_of_a_file_that_another_model_loaded_is_seen(project, worker):
    worker.trace(make_options(model="family.one.Net", inputs=[1, 4]), [project])
    two = project / "family" / "two.py"
    two.write_text(two.read_text().replace("act(self.fc(x))", "act(self.fc(x)).sigmoid()"))
    answer = worker.trace(make_options(model="family.Other", inputs=[1, 4]), [project])
    assert b"sigmoid" in answer.graph


def test_relative_import_outside_of_a_package_is_ignored(project, worker):
    tried = "try:\n    from . import layers\nexcept ImportError:\n    layers = None"
    (project / "tried.py").write_text(NET.format(imports=tried, width=4, result="self.fc(x)"))
    answer = worker.trace(make_options(model="tried.Net", inputs=[1, 4]), [project])
    assert b"tried.Net" in answer.graph
    assert [source.rpartition("/")[2] for source in answer.sources] == ["tried.py"]


def test_sources_include_the_file_whose_call_gives_the_arguments(project, worker):
    (project / "shown.py").write_text(
        NET.format(imports="", width="width", result="self.fc(x)").replace("self)", "self, width)")
    )
    (project / "run.py").write_text("from shown import Net\n\nnet = Net(width=8)\n")
    answer = worker.trace(make_options(model="shown.Net", inputs=[1, 4]), [project])
    assert b"as in run.py:3" in answer.graph
    assert f"{project}/run.py" in answer.sources
