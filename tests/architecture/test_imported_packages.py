"""Every imported package is declared."""

from __future__ import annotations

import ast
import importlib.metadata
import sys
import tomllib
from collections import defaultdict
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
ROOMS = ("src/modeldiagrams", "sphinx_ext/sphinx_modeldiagrams", "mkdocs_plugin/mkdocs_modeldiagrams")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
DECLARED = PROJECT["dependencies"] + [
    line for extra, lines in PROJECT["optional-dependencies"].items() if extra != "dev" for line in lines
]
BROUGHT = {"docutils": "sphinx", "sphinxcontrib": "sphinx", "markdown": "mkdocs", "markupsafe": "jinja2"}
"""Package → the declared distribution that is written for it, and requires it."""
THEIRS = {
    "accelerate": {"src/modeldiagrams/watching/integrations/accelerate.py"},
    "griffe": {"mkdocs_plugin/mkdocs_modeldiagrams/griffe_extension.py"},
    "lightning": {"src/modeldiagrams/watching/integrations/lightning.py"},
    "pytest": {"src/modeldiagrams/api/pytest_plugin.py", "src/modeldiagrams/record/pytest_hooks.py"},
    "pytorch_lightning": {"src/modeldiagrams/watching/integrations/lightning.py"},
    "transformers": {"src/modeldiagrams/watching/integrations/transformers.py"},
    "wandb": {"src/modeldiagrams/watching/integrations/wandb.py"},
}
"""Package → the file that only runs where the user has it."""


def imported(path):
    """The packages that a file imports anywhere, types included."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield str(node.module).partition(".")[0]


def test_imported_packages_are_declared():
    ours = {Path(room).name for room in ROOMS}
    distributions = importlib.metadata.packages_distributions()
    declared = {Requirement(line).name for line in DECLARED}
    found = defaultdict(set)
    for path in (path for room in ROOMS for path in (ROOT / room).rglob("*.py")):
        for package in {*imported(path)} - ours - sys.stdlib_module_names - BROUGHT.keys():
            if not declared.intersection(name.lower() for name in distributions.get(package, ())):
                found[package].add(path.relative_to(ROOT).as_posix())
    assert found == THEIRS


def test_extras_require_the_packages_they_need():
    distributions = importlib.metadata.packages_distributions()
    for package, name in BROUGHT.items():
        assert any(Requirement(line).name == name for line in DECLARED)
        required = {Requirement(line).name.lower() for line in importlib.metadata.requires(name)}
        assert required.intersection(found.lower() for found in distributions[package])
