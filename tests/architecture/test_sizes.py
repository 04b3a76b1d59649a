"""Files stay short enough to be read at once, and functions, too."""

from __future__ import annotations

import ast
import statistics
import subprocess
from pathlib import Path

_REPOSITORY = Path(__file__).parents[2]
_PACKAGES = ("src", "sphinx_ext", "mkdocs_plugin")


def test_long_files_say_why_in_their_heads() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "*.py", "*.ts", "*.mjs", "*.css"], cwd=_REPOSITORY, capture_output=True, check=True
    )
    texts = {name: (_REPOSITORY / name).read_text() for name in listed.stdout.decode().split("\0") if name}
    assert len(texts) > 500
    assert [name for name, text in texts.items() if text.count("\n") > 300 and "Long because" not in text[:1000]] == []


def test_functions_are_short() -> None:
    lines = {}
    for file in (file for package in _PACKAGES for file in (_REPOSITORY / package).rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines[f"{file.name}:{node.lineno} {node.name}"] = (node.end_lineno or 0) - node.lineno + 1
    assert len(lines) > 2000
    assert {name: n for name, n in lines.items() if n > 50} == {}
    assert statistics.median(lines.values()) <= 8
