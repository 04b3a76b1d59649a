from __future__ import annotations

import json
from pathlib import Path

import pytest

from modeldiagrams.common import amounts

TABLE = json.loads((Path(__file__).parents[1] / "amounts.json").read_text("utf-8"))


@pytest.mark.parametrize("kind", TABLE)
def test_amounts_are_written_as_in_pictures(kind):
    """`viewer/test/shared/amounts.test.ts` reads the same table."""
    assert [getattr(amounts, f"format_{kind}")(number) for number, _ in TABLE[kind]] == [
        text for _, text in TABLE[kind]
    ]
