"""Names and expressions of a few models against fresh passes at other sizes; `make zoo` has two hundred."""

from __future__ import annotations

import pytest

from named_sizes import own_images, own_others, own_sequences  # noqa: F401 - they add their models
from named_sizes.judge import judge
from named_sizes.known import MODELS

QUICK = (
    "HardView",
    "UNet",
    "ClassToken",
    "PaddedWindows",
    "CrossAttention",
    "RelativeBias",
    "BuiltInLSTM",
    "AsLongAsWide",
    "OneInBatch",
    "Messages",
    "FromDict",
    "SparseGraph",
)


@pytest.mark.parametrize("name", QUICK)
def test_names_hold_at_unseen_sizes(name):
    found = judge(MODELS[f"own {name}"])
    assert [*found.oracle, *found.wrong, *found.silent, *found.pinned] == []
    assert found.named == found.nameable
