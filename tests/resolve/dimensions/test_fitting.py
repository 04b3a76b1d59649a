"""Expressions are found for polynomials of sizes, and not for anything else."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations

import pytest

from modeldiagrams.ir.expressions import parse_expression
from modeldiagrams.resolve.dimensions.fitting import Fitter

BASE = {"B": 1, "T": 16, "H": 224, "W": 224}
FACTORS = dict(zip(BASE, permutations((2, 3, 5)), strict=False))
POINTS = [
    BASE,
    *(
        {n: FACTORS[n][i] * size if size > 4 else size + FACTORS[n][i] - 1 for n, size in BASE.items()}
        for i in range(3)
    ),
]


def fitted(value, n_points=4):
    points = POINTS[:n_points]
    return Fitter(points).fit(tuple(value(point) for point in points))


@pytest.mark.parametrize("n_points", [3, 4])
@pytest.mark.parametrize(
    "text",
    ["768", "B", "T", "H/32", "B*T", "B*(T+1)", "2*T-1", "12*B*T*T", "H*W/256+1", "B*H*W/784", "(H+W)/16", "0"],
)
def test_polynomials_are_found(text, n_points):
    expression = parse_expression(text)
    assert str(fitted(lambda sizes: int(expression.evaluate(sizes)), n_points)) == text


@pytest.mark.parametrize("text", ["H*W/256+T+5", "B*(H*W/256+5)", "T*T+T+1"])
def test_three_terms_need_four_points(text):
    expression = parse_expression(text)
    assert str(fitted(lambda sizes: int(expression.evaluate(sizes)))) == text


@pytest.mark.parametrize(
    "value",
    [
        lambda sizes: -(-sizes["H"] // 100),
        lambda sizes: (sizes["T"] - 1).bit_length() ** 3 + 7,
        lambda sizes: sizes["T"] % 7 + 11,
        lambda sizes: {1: 4, 2: 9, 3: 22}.get(sizes["B"], 13),
    ],
)
def test_what_is_no_polynomial_stays_a_number(value):
    assert fitted(value) is None


def test_nothing_divides_a_batch_alone():
    assert Fitter([{"B": 2}, {"B": 4}, {"B": 6}]).fit((1, 2, 3)) is None


def test_steps_that_do_not_divide_a_size_have_a_remainder():
    points = [{"H": 299 + 448 * k} for k in (0, 1, 2)]
    found = Fitter(points).fit(tuple((point["H"] - 43) // 32 for point in points))
    assert found is not None
    assert found.evaluate({"H": 299 + 32}) == Fraction(9)
