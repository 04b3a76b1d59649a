"""Several threads decode: whatever has a class in it goes through `decodable`."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]
PLAIN = {"dict", "list", "tuple", "str", "int", "float", "bool"}


def decoded() -> dict[str, ast.expr]:
    """Place → the type that is decoded there."""
    files = [file for folder in ("src", "sphinx_ext", "mkdocs_plugin") for file in (ROOT / folder).rglob("*.py")]
    return {
        f"{file.relative_to(ROOT)}:{node.lineno}": word.value
        for file in files
        for node in ast.walk(ast.parse(file.read_bytes()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "decode"
        for word in node.keywords
        if word.arg == "type"
    }


def is_safe(kind: ast.expr) -> bool:
    if isinstance(kind, ast.Call):
        return ast.unparse(kind.func) == "decodable"
    return {node.id for node in ast.walk(kind) if isinstance(node, ast.Name)} <= PLAIN


def test_classes_are_decoded_safely():
    found = decoded()
    assert any(place.startswith("src") for place in found)
    assert [place for place, kind in found.items() if not is_safe(kind)] == []
