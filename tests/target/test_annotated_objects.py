"""Objects that a forward is annotated to take: their own class is named, with what its constructor takes."""

from __future__ import annotations

from dataclasses import InitVar, dataclass
from typing import Any, NamedTuple, TypedDict

import torch
from torch import nn

from modeldiagrams.target.inference.input_solver import InputSolver
from modeldiagrams.target.inference.probing import Probe
from target.found_inputs import found


class Beams(NamedTuple):
    starts: torch.Tensor
    ways: torch.Tensor


class Padded:
    """What only its own method gives away."""

    def __init__(self, pixels, empty):
        self.pixels, self.empty = pixels, empty

    def apart(self):
        return self.pixels, self.empty


@dataclass
class Visit:
    codes: torch.Tensor
    is_first: bool
    notes: torch.Tensor | None = None


class Caster(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Linear(6, 8)

    def forward(self, beams: Beams):
        return self.trunk(torch.cat([beams.starts, beams.ways], -1))


class Cropper(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, padding=1)

    def forward(self, sample: Padded):
        pixels, empty = sample.apart()
        return self.stem(pixels).masked_fill(empty[:, None, :, :], 0.0)


class Ward(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(50, 8)

    def forward(self, visit: Visit | None):
        rows = self.table(visit.codes)
        return rows if visit.is_first or visit.notes is None else rows * 2


def first_entry(model, name):
    entries = next(InputSolver(model.eval())._seeds())
    assert Probe(model).run(entries).error is None
    return entries[name]


def test_a_named_tuple_is_made_of_its_fields():
    entry = first_entry(Caster(), "beams")
    assert entry["_target_"] == f"{__name__}.Beams"
    assert entry["starts"][1] + entry["ways"][1] == 6


def test_a_class_with_methods_is_made_by_its_constructor():
    entry = first_entry(Cropper(), "sample")
    assert entry["_target_"] == f"{__name__}.Padded"
    assert entry["pixels"][1] == 3
    assert entry["empty"]["shape"][1:] == entry["pixels"][2:]


def test_fields_of_plain_types_have_plain_values_and_defaults_stay():
    entry = first_entry(Ward(), "visit")
    assert entry.keys() == {"_target_", "codes", "is_first"}
    assert entry["is_first"] == {"value": False}
    assert entry["codes"]["high"] == 50


def test_a_diagram_of_such_an_input_is_connected():
    assert found(Cropper)["sample"]["pixels"] == [1, 3, 32, 32]


class Clip(TypedDict):
    frames: torch.Tensor
    codec: str
    size: tuple[int, int]


@dataclass
class Scan:
    voxels: torch.Tensor
    header: dict[str, Any]
    spacing: InitVar[int]

    def __post_init__(self, spacing):
        self.spacing = spacing * 2


class Player(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Linear(6, 8)

    def forward(self, clip: Clip, scan: Scan):
        frames = self.trunk(clip["frames"]) * clip["size"][0]
        return frames.mean() + self.trunk(scan.voxels) * scan.spacing if clip["codec"] == "raw" else frames


def test_texts_pairs_and_settings_are_no_tensors():
    clip, scan = first_entry(Player(), "clip"), first_entry(Player(), "scan")
    assert clip == {"frames": clip["frames"], "codec": {"value": "text"}, "size": {"value": [4, 4]}}
    assert clip["frames"][-1] == 6
    assert (scan["header"], scan["spacing"]) == ({"value": {}}, {"value": 2})
