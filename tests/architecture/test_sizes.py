"""Functions are short enough to read at once."""

from __future__ import annotations

import ast
import statistics
from pathlib import Path

_REPOSITORY = Path(__file__).parents[2]
_PACKAGES = ("src", "sphinx_ext", "mkdocs_plugin")


def test_functions_are_short() -> None:
    lines = {}
    for file in (file for package in _PACKAGES for file in (_REPOSITORY / package).rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines[f"{file.name}:{node.lineno} {node.name}"] = (node.end_lineno or 0) - node.lineno + 1
    assert len(lines) > 2000
    assert {name: n for name, n in lines.items() if n > 50} == {}
    assert statistics.median(lines.values()) <= 8
