"""Several threads decode: whatever has a class in it goes through `decodable`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PLAIN = {"dict", "list", "tuple", "str", "int", "float", "bool"}


def calls(word: str) -> Iterator[tuple[str, ast.Call, ast.Attribute]]:
    """All calls of methods with this name: place, call, and what is called."""
    files = [file for folder in ("src", "sphinx_ext", "mkdocs_plugin") for file in (ROOT / folder).rglob("*.py")]
    for file in files:
        text = file.read_bytes()
        for node in ast.walk(ast.parse(text)) if f".{word}(".encode() in text else ():
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == word:
                yield f"{file.relative_to(ROOT).as_posix()}:{node.lineno}", node, node.func


def decoded() -> dict[str, ast.expr]:
    """Place → the type that is decoded there."""
    return {place: word.value for place, call, _ in calls("decode") for word in call.keywords if word.arg == "type"}


LEARNT_AT_IMPORT = {
    "src/modeldiagrams/options/catalogue.py": {"list[str]"},  # no class in it
    "src/modeldiagrams/options/case_options.py": {"types[name]"},
    "src/modeldiagrams/options/steps.py": {"type_"},
    "src/modeldiagrams/overlay/annotate.py": {"struct"},
    "src/modeldiagrams/options/parsing.py": {"Options", "View", "declared.type"},
    "src/modeldiagrams/options/reading.py": {"tuple[_Length, _Length] | None"},
    "src/modeldiagrams/options/settings.py": {"_collect_types()[name]"},
}
"""Options, their fields and parts of overlays, which one thread reads while it imports;
lengths, settings and options of cases have no classes in them."""


def converted() -> dict[str, ast.expr]:
    """Place → the type that plain data is made there."""
    return {place: call.args[1] for place, call, at in calls("convert") if ast.unparse(at.value) == "msgspec"}


def test_plain_data_becomes_classes_safely():
    found = converted()
    unsafe = {
        place: ast.unparse(kind)
        for place, kind in found.items()
        if "decodable(" not in ast.unparse(kind)
        and ast.unparse(kind) not in LEARNT_AT_IMPORT.get(place.rpartition(":")[0], ())
    }
    assert found
    assert [*unsafe.values()] == ["item_type"]  # a field of a graph, whose class was decoded just before
    assert "msgspec.json.Decoder(tuple[Options, View])" in (ROOT / "src/modeldiagrams/options/parsing.py").read_text()
    assert "msgspec.json.Decoder(tuple[Note, Node])" in (ROOT / "src/modeldiagrams/overlay/annotate.py").read_text()


def is_safe(kind: ast.expr) -> bool:
    if isinstance(kind, ast.Call):
        return ast.unparse(kind.func) == "decodable"
    return {node.id for node in ast.walk(kind) if isinstance(node, ast.Name)} <= PLAIN


def test_classes_are_decoded_safely():
    found = decoded()
    assert any(place.startswith("src") for place in found)
    assert [place for place, kind in found.items() if not is_safe(kind)] == []
