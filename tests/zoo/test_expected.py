"""What a person would call models with: does the notation say what it seems to, and of models that there are?"""

from __future__ import annotations

import pytest

from inference_zoo import LEVELS, entries
from zoo.expected import EXPECTED, Shape, Shown, untruths

PICTURE = Shown("float", (1, 3, 32, 32))
IDS = Shown("int", (1, 16))


def test_every_line_is_of_a_seen_model_and_every_seventh_has_one():
    seen = [entry for entry in entries() if not entry.is_aside]
    assert {entry.path for entry in seen} >= EXPECTED.keys()
    assert len(EXPECTED) >= len(seen) // 7
    assert {entry.level for entry in seen if entry.path in EXPECTED} == {*LEVELS}


@pytest.mark.parametrize(
    ("line", "inputs"),
    [
        ("x: f B 3 H W", {"x": PICTURE}),
        ("x: fi B 1/3 16..64 32", {"x": PICTURE}),
        ("x: i B T; y?: f B", {"x": IDS}),
        ("x: i B T; y?: f B", {"x": IDS, "y": None}),
        ("x: i B T; y: f B 2*T | f T 2", {"x": IDS, "y": Shown("float", (16, 2))}),
        ("x: f B C H W | f C H W", {"x": Shown("float", (4, 32, 32))}),
        ("x: f B W", {"x": Shown("float", (1, 64))}),
        ("x.image: f B 3 H W; x.n: n 1..4", {"x": {"image": PICTURE, "n": 2}}),
        ("x.*: f B 3 H W | i B T", {"x": {"0": PICTURE, "1": IDS}}),
        ("edges.*: i E", {"edges": IDS}),
        ("x: any", {"x": "text"}),
        ("x: n T; y: i B T", {"x": 16, "y": IDS}),
    ],
)
def test_what_is_expected_is_true(line, inputs):
    assert untruths(line, Shape(inputs)) == []


@pytest.mark.parametrize(
    ("line", "inputs"),
    [
        ("x: f B 1 H W", {"x": PICTURE}),
        ("x: i B 3 H W", {"x": PICTURE}),
        ("x: f B H W", {"x": PICTURE}),
        ("x: f B 3 H W", {"x": Shown("float", (1, 3, 95, 32))}),
        ("x: f B 3 H W", {"x": Shown("float", (7, 3, 32, 32))}),
        ("x: f B T 3", {"x": Shown("float", (1, 1, 3))}),
        ("x: i B T", {}),
        ("x: i B T", {"x": IDS, "y": IDS}),
        ("x: i B T; y: i B T", {"x": IDS, "y": Shown("int", (1, 8))}),
        ("x: i B T; y?: i B T", {"x": IDS, "y": Shown("int", (1, 8))}),
        ("x.*: f B 3 H W", {"x": {"0": PICTURE, "1": IDS}}),
        ("x: n 1..4", {"x": 5}),
        ("x: n", {"x": True}),
        ("x: s", {"x": PICTURE}),
        ("x: i B T; y: n T", {"x": IDS, "y": 15}),
    ],
)
def test_what_is_not_expected_is_found(line, inputs):
    assert untruths(line, Shape(inputs))


def test_arguments_of_the_constructor_are_sizes_and_are_checked_themselves():
    call = Shape(
        {"x": Shown("int", (1, 3, 8))}, {"dim": 8, "act": "relu", "cfg": {"n": 2}, "columns": {"0": 1, "1": 1, "2": 1}}
    )
    for true in ("x: i B #columns dim; dim=4..8", "x: i B cfg.n+1 dim; act=relu/gelu", "x: i B 3 cfg.n*4; cfg.n=2"):
        assert untruths(true, call) == []
    for untrue in ("x: i B 3 dim; dim=16..", "x: i B cfg.n dim", "x: i B 3 8; act=gelu", "x: i B 3 8; depth=1.."):
        assert untruths(untrue, call)
