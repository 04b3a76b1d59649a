"""The figures in a site's list of diagrams, checked against the graphs next to it, read as plain JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from modeldiagrams.ir.serialize import load
from modeldiagrams.ir.structure import structural_digest

if TYPE_CHECKING:
    from pathlib import Path


def read_figures(folder: Path) -> dict[str, dict[str, Any]]:
    """Id → figures of each diagram in a site's `modeldiagrams` folder, which are those of its graph."""
    index = json.loads((folder / "index.json").read_text("utf-8"))
    assert index["version"] == "1.1"
    found = {entry["id"]: index["figures"][entry["figures"]] for entry in index["diagrams"]}
    assert len(index["figures"]) == len({json.dumps(one) for one in found.values()}), "listed twice, or for nothing"
    for id_, figures in found.items():
        assert figures == {**figures, **expected_figures(folder / f"{id_}.json")}, id_
    return found


def expected_figures(file: Path) -> dict[str, Any]:
    """What lists say of a complete graph without assumed sizes."""
    graph = json.loads(file.read_text("utf-8"))
    model, inputs = graph["model"], [node for node in graph["nodes"] if node["kind"] == "input"]
    found = {
        "class": model["class"],
        "state": graph["status"]["state"],
        "parameters": model["parameters"]["total"],
        "inputs": {node["name"]: graph["tensors"][node["outputs"][0]]["shape"] for node in inputs},
        "structure": structural_digest(load(file)),
    }
    return found | {name: model[name] for name in ("flops", "activation_bytes") if name in model}
