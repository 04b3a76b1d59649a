"""Hints for patterns that match nothing."""

from __future__ import annotations

import pytest

from modeldiagrams.ir.spelling import nearest

NAMES = [
    "stem",
    "Linear",
    "experts.0",
    "experts.0.up",
    "layers.0.heads.0",
    "layers.10.heads.0",
    "layers.10",
    "mypkg.Net",
]


@pytest.mark.parametrize(
    ("pattern", "meant"),
    [
        ("experts", "experts.?"),
        ("layers", "layers.?, layers.??"),
        ("layers.*.heads", "layers.*.heads.?"),
        ("stemm", "stem"),
        ("linear", "Linear"),
        ("nothing like it", None),
    ],
)
def test_what_was_meant(pattern, meant):
    assert nearest(pattern, NAMES) == meant
