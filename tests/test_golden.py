"""Golden files: what tiny models give, as graph and as picture. ``make golden`` writes them anew.

On a difference the new file lies under the same name in ``golden/actual``, to be looked at.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest
import torch

import golden_models
from modeldiagrams import to_svg, trace
from modeldiagrams.ir.check import check_graph
from modeldiagrams.ir.graph import Graph, Provenance
from modeldiagrams.ir.serialize import deserialize, schema, serialize

GOLDEN = Path(__file__).parent / "golden"


def x() -> torch.Tensor:
    return torch.zeros(2, 4)


CASES: dict[str, tuple[type[torch.nn.Module], tuple[Any, ...], dict[str, Any]]] = {
    "residual": (golden_models.Residual, (x(),), {}),
    "repeated": (golden_models.Repeated, (x(),), {}),
    "stack": (golden_models.Stack, (x(),), {}),
    "nested": (golden_models.Nested, (), {"batch": {"x": x(), "mask": x()}, "scale": torch.ones(1)}),
    "bare_weights": (golden_models.BareWeights, (x(),), {}),
    "raises_midway": (golden_models.RaisesMidway, (x(),), {}),
    "in_place": (golden_models.InPlace, (x(),), {}),
}


def traced(name: str) -> Graph:
    """The graph with versions taken out, which differ from machine to machine."""
    model, args, kwargs = CASES[name]
    graph = trace(model().eval(), args, kwargs, mode="real")
    return msgspec.structs.replace(graph, provenance=Provenance(modeldiagrams="0"))


def written(graph: Graph) -> bytes:
    """A graph with a line for each node, edge and tensor, so that a difference shows what has changed."""
    fields = json.loads(serialize(graph))
    return ("{" + ",\n".join(f"{json.dumps(key)}: {_lines(value)}" for key, value in fields.items()) + "}\n").encode()


def _lines(value: Any) -> str:
    if isinstance(value, list):
        return "[\n" + ",\n".join(map(json.dumps, value)) + "]" if value else "[]"
    if isinstance(value, dict) and any(isinstance(item, dict | list) for item in value.values()):
        return "{\n" + ",\n".join(f"{json.dumps(key)}: {json.dumps(item)}" for key, item in value.items()) + "}"
    return json.dumps(value)


def compare(path: Path, actual: bytes, *, update: bool) -> None:
    if update:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(actual)
    kept = path.parent / "actual" / path.name  # not beside it: all that lies there counts as golden
    kept.unlink(missing_ok=True)
    if not path.is_file() or path.read_bytes() != actual:
        kept.parent.mkdir(exist_ok=True)
        kept.write_bytes(actual)
        pytest.fail(f"{path.name} differs from {kept}; if the change is meant, run `make golden`")


def test_what_differs_is_no_golden_file(tmp_path: Path) -> None:
    with pytest.raises(pytest.fail.Exception, match=r"nested\.json differs from"):
        compare(tmp_path / "nested.json", b"{}", update=False)
    assert not list(tmp_path.glob("*.json"))
    assert (tmp_path / "actual" / "nested.json").read_bytes() == b"{}"


@pytest.mark.parametrize("name", CASES)
def test_graph(name: str, update_golden: bool) -> None:
    graph = traced(name)
    check_graph(graph)
    compare(GOLDEN / f"{name}.json", written(graph), update=update_golden)


@pytest.mark.parametrize("name", CASES)
def test_picture(name: str, update_golden: bool) -> None:
    graph = deserialize((GOLDEN / f"{name}.json").read_bytes())
    compare(GOLDEN / f"{name}.svg", to_svg(graph).encode(), update=update_golden)


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.json")), ids=lambda path: path.stem)
def test_every_golden_graph_fits_the_published_schema(path: Path) -> None:
    jsonschema.validate(json.loads(path.read_bytes()), schema())
    graph = deserialize(path.read_bytes())
    assert written(graph) == path.read_bytes(), "does not round-trip"
