"""Examples in the documentation are true: Python runs, and commands, options and links lead somewhere."""

from __future__ import annotations

import ast
import gzip
import json
import re
import shlex
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path
from typing import Any

import click
import pytest
import torch
import yaml

import modeldiagrams
from modeldiagrams.cli import main
from modeldiagrams.engine.catalogue.listing import name_list
from modeldiagrams.engine.diagram_ids import name_snapshot
from modeldiagrams.hosting.mentions import find_catalogues
from modeldiagrams.options.catalogue import read_catalogue_text
from modeldiagrams.options.parsing import collect_help

ROOT = Path(__file__).parent.parent
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs" / "pages").rglob("*.md")))
BLOCK = re.compile(r"^(?P<fence>`{3,})(?P<language>[\w-]+)[^\n]*\n(?P<text>.*?)^(?P=fence)$", re.DOTALL | re.MULTILINE)


def blocks(*languages: str) -> Iterator[tuple[str, str]]:
    """The page and text of each block in one of these languages, also inside blocks that show Markdown."""
    for page in PAGES:
        texts = [page.read_text("utf-8")]
        while texts:
            for block in BLOCK.finditer(texts.pop()):
                if block["language"] in languages:
                    yield page.name, block["text"]
                if block["language"] in {"markdown", "md"}:
                    texts.append(block["text"])


def test_links_lead_to_files() -> None:
    for page in PAGES:
        text = BLOCK.sub("", page.read_text("utf-8"))
        links = re.findall(r"\]\(([\w./-]+)(?:#[\w-]+)?\)", text)
        assert {link for link in links if not (page.parent / link).exists()} == set(), page


def test_python_is_valid_and_names_of_the_package_exist() -> None:
    found = [(page, text) for page, text in blocks("python") if ">>> " not in text]
    assert len(found) > 40
    for page, text in found:
        names = re.findall(r"\bmodeldiagrams\.(\w+)\(", text)
        assert {name for name in names if not hasattr(modeldiagrams, name)} == set(), page
        assert ast.parse(text), page


def test_commands_and_their_options_exist() -> None:
    parts = [(page, part) for page, text in blocks("shell", "sh", "console") for part in re.split(r"[|\n]", text)]
    found = [(page, shlex.split(part.strip(" $"), comments=True)) for page, part in parts if "modeldiagrams " in part]
    assert len(found) > 30
    with click.Context(main) as context:
        for page, (program, name, *words) in found:
            if program == "modeldiagrams":
                command = main.get_command(context, name)
                assert command, f"{page}: {name}"
                known = {option for parameter in command.params for option in parameter.opts}
                own = takewhile(lambda word: word != "--", words)
                assert {word for word in own if re.match(r"--?[a-z]", word)} <= known, f"{page}: {name}"


def test_options_of_diagrams_exist() -> None:
    known = {name.replace("_", "-") for name in collect_help()} | {"before", "after", "details"}
    found = [(page, yaml.safe_load(text)) for page, text in blocks("model-graph", "model-diff")]
    assert len(found) > 40
    for page, options in found:
        if isinstance(options, dict):  # else it is the name of a model
            assert {name.replace("_", "-") for name in options} - known == set(), page


def test_catalogues_are_valid() -> None:
    fences = [({}, text) for _, text in blocks("model-catalogue")]
    directives = [(values, body) for _, text in blocks("rst") for values, body, _ in find_catalogues(text)]
    assert len(fences) > 1
    assert directives
    for values, body in (*fences, *directives):
        assert read_catalogue_text(values, body).of


def test_committed_graphs_are_those_of_the_catalogues() -> None:
    folder = ROOT / "docs" / "model-graphs"
    read = [read_catalogue_text({}, text) for _, text in blocks("model-catalogue")]
    expected = set[str]()
    for catalogue in read:
        if catalogue.values.get("committed"):
            listed = f"{name_list(catalogue)}.models.txt"
            models = (folder / listed).read_text("utf-8").split()
            expected |= {listed, *(f"{name_snapshot(catalogue.options_for(name, {}))}.json.gz" for name in models)}
    assert {file.name for file in folder.iterdir()} == expected
    assert len(expected) == 86 + 60 + 2
    assert sum(file.stat().st_size for file in folder.iterdir()) < 6_000_000
    graphs = (json.loads(gzip.decompress(file.read_bytes())) for file in folder.glob("*.gz"))
    assert {graph["status"]["state"] for graph in graphs} == {"complete"}


def test_examples_of_named_sizes_are_true() -> None:
    found = [text for page, text in blocks("python") if page == "named_sizes.md"]
    assert len(found) == 2
    for text in found:
        exec(text, {})  # noqa: S102  (our own text)


def test_recipes_of_numbers_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    recipes = [text for page, text in blocks("python") if page == "numbers.md"]
    assert len(recipes) == 4
    scopes: list[dict[str, Any]] = [{} for _ in recipes]
    for text, scope in zip(recipes, scopes, strict=True):
        assert text.count("\n") <= 25
        exec(text, scope)  # noqa: S102  (our own text)
    assert {path.name for path in tmp_path.iterdir()} == {"sparsity.svg", "times.html", "errors.svg", "speaks.html"}
    shares, times, errors, speaks = (scope["numbers"]["values"] for scope in scopes)
    weights = {name: weight for name, weight in scopes[0]["model"].named_parameters() if name.endswith("weight")}
    near = {name: (weight.abs() < 1e-3).sum().item() for name, weight in weights.items()}
    assert shares[""] == pytest.approx(sum(near.values()) / sum(map(torch.numel, weights.values())))
    assert shares["pooler"] == shares["pooler.dense"] == pytest.approx(near["pooler.dense.weight"] / 768**2)
    inside = [time for name, time in times.items() if re.fullmatch(r"layers\.\d+", name)]
    assert len(inside) == 4
    assert 0 < sum(inside) < times[""]
    assert len(errors) == 4 * 6 + 1
    assert all(0 < error < 0.05 for error in errors.values())
    # the last layer is the score and, apart from its bias, what it multiplies
    model, score = scopes[3]["model"], scopes[3]["score"].item()
    bias = model.classifier[1].bias[scopes[3]["outputs"]["classifier.1"].argmax()].item()
    assert speaks["classifier.1"] == pytest.approx(score)
    assert speaks["classifier.0"] == pytest.approx(score - bias, abs=1e-4)


def test_the_tutorial_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    scope: dict[str, object] = {}
    for page, text in blocks("python"):
        if page == "python.md":
            exec(text, scope)  # noqa: S102  (our own text)
    assert {path.suffix for path in tmp_path.iterdir()} == {".html", ".svg", ".png", ".pdf", ".json"}
