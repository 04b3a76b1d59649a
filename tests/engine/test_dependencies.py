"""Which files a model depends on: enough, and no more."""

from __future__ import annotations

import pytest

from modeldiagrams.options import Options
from modeldiagrams.target import usercode
from modeldiagrams.worker import Worker

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


@pytest.fixture(scope="module")
def worker():
    """One for all: what other models have loaded must make no difference."""
    with Worker() as worker:
        yield worker


@pytest.mark.parametrize("model", [*CASES, *reversed(CASES)])
def test_a_model_depends_on_its_own_code_and_what_that_imports(model, project, worker):
    arguments = {"args": ["alone"]} if model == "registry.make" else {}
    answer = worker.trace(Options(model=model, inputs=[1, 4], **arguments), [project])
    found = {file.removeprefix(f"{project}/") for file in answer.sources}
    assert found - {"family/deep/__init__.py"} == CASES[model]


def test_a_function_that_makes_inputs_counts(project, worker):
    answer = worker.trace(Options(model="alone.Net", inputs_from="family.inputs.some"), [project])
    assert f"{project}/family/inputs.py" in answer.sources
    assert f"{project}/family/two.py" not in answer.sources


def test_an_edit_of_what_another_model_has_loaded_is_seen(project, worker):
    worker.trace(Options(model="family.one.Net", inputs=[1, 4]), [project])
    two = project / "family" / "two.py"
    two.write_text(two.read_text().replace("act(self.fc(x))", "act(self.fc(x)).sigmoid()"))
    answer = worker.trace(Options(model="family.Other", inputs=[1, 4]), [project])
    assert b"sigmoid" in answer.graph


def test_imports_of_a_package_tried_outside_of_one_are_no_problem(project, worker):
    tried = "try:\n    from . import layers\nexcept ImportError:\n    layers = None"
    (project / "tried.py").write_text(NET.format(imports=tried, width=4, result="self.fc(x)"))
    answer = worker.trace(Options(model="tried.Net", inputs=[1, 4]), [project])
    assert b"tried.Net" in answer.graph
    assert [source.rpartition("/")[2] for source in answer.sources] == ["tried.py"]


def test_packages_of_the_system_are_libraries_to_an_environment_that_sees_them(monkeypatch, tmp_path):
    """``python -m venv --system-site-packages``: all of PyTorch would be the user's own."""
    monkeypatch.syspath_prepend(tmp_path / "system" / "site-packages")
    usercode._library_roots.cache_clear()
    try:
        assert not usercode.is_user_file(str(tmp_path / "system" / "site-packages" / "mypkg.py"))
        assert usercode.is_user_file(str(tmp_path / "system" / "mypkg.py"))
    finally:
        usercode._library_roots.cache_clear()
