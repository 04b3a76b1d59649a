from __future__ import annotations

import json
from pathlib import Path

import pytest

from modeldiagrams.common.globs import compile_globs

TABLE = json.loads((Path(__file__).parents[1] / "globs.json").read_text("utf-8"))


@pytest.mark.parametrize("pattern", TABLE)
def test_patterns_match_as_in_the_viewer(pattern):
    """`viewer/test/view/patterns.test.ts` reads the same table."""
    matches = compile_globs([pattern])
    assert all(map(matches, TABLE[pattern]["matches"]))
    assert not any(map(matches, TABLE[pattern]["misses"]))


def test_any_of_several_patterns_is_enough():
    matches = compile_globs(["a.*", "b|c"])
    assert matches("a.x")
    assert matches("b|c")
    assert not matches("b")
    assert not matches("c")
