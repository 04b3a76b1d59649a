"""Letters for long expressions that many shapes have."""

from __future__ import annotations

import pytest

from modeldiagrams.ir.sizes import NamedSizes, Size
from modeldiagrams.resolve.dimensions.letters import choose_letters

SIZES = {name: Size(size=64) for name in "BTHW"}


def chosen(*shapes, sizes=SIZES, letters=None, times=4):
    tensors = {f"{i}.{j}:0": shape for i, shape in enumerate(shapes) for j in range(times)}
    return choose_letters(NamedSizes(sizes=sizes, tensors=tensors, letters=letters or {}))


@pytest.mark.parametrize(
    ("shapes", "letters"),
    [
        ([("B", "H*W/256", None)], {"N": "H*W/256"}),
        ([("B", "H*W/256+5", None), ("B*H*W/256",), ("3*B*H*W/64",)], {"N": "H*W/256"}),
        ([("B", "L/320-1", None)], {"N": "L/320-1"}),
        ([("B", "H*W/16"), ("B", "H*W/64")], {"N₁": "H*W/16", "N₂": "H*W/64"}),
        ([("B", "T+1"), ("B", "2*T-1"), ("B*T",), ("H/32", "W/32")], {}),
    ],
)
def test_long_expressions_get_letters(shapes, letters):
    assert chosen(*shapes) == letters


def test_rare_expressions_get_none():
    assert chosen(("B", "H*W/256"), times=3) == {}


def test_letters_of_sizes_and_of_the_author_are_taken():
    assert chosen(("B", "H*W/256"), sizes={**SIZES, "N": Size(size=4)}) == {"M": "H*W/256"}
    assert chosen(("B", "H*W/256"), letters={"P": "H*W/256"}) == {}
    assert chosen(("B", "H*W/64"), letters={"N": "H*W/256"}) == {"M": "H*W/64"}


def test_no_more_letters_than_readers_remember():
    assert len(chosen(*((f"H*W/{2**i}",) for i in range(4, 20)))) == 9
