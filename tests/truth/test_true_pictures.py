"""Every data dependency between two visible boxes is a drawn path, and every drawn path is one.

`tests/zoo/test_true_pictures.py` asks the same of many real models.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from modeldiagrams import trace
from modeldiagrams.ir.serialize import deserialize
from truth.levels import LEVELS
from truth.loops import LOOPS
from truth.models import MODELS
from truth.oracle import Picture, Trace, judge
from truth.sweep import Sweep

GOLDEN = sorted((Path(__file__).parent.parent / "golden").glob("*.json"))


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_golden_graphs(path: Path) -> None:
    assert Sweep(deserialize(path.read_bytes())).untrue() == []


@pytest.mark.parametrize("name", [*MODELS, *LEVELS, *LOOPS])
def test_models_with_structures_that_were_drawn_wrong(name: str) -> None:
    class_, args, x = {**MODELS, **LEVELS, **LOOPS}[name]
    assert Sweep(trace(class_(*args).eval(), (x,)), quick=True).untrue() == []


CARRIED = {
    "translator": {"input 2 int64", "attention 2×8", "hx[0] 2×8", "hx[1] 2×8"},
    "greedy": {"input 2 int64", "hx 2×8"},
    "fixed_point": {"input 2×5×8"},
    "diffusion": {"x 2×8"},
    "scan": {"add 2×8×4"},
    "handwritten": {"tanh 2×8"},
    "albert": {"x 2×5×8"},
    "unrolled": {"hx[0] 2×8", "hx[1] 2×8"},
}
"""Loop → the labels of what steps hand on: the argument that takes it, or the op that makes it, and the shape."""


@pytest.mark.parametrize("name", CARRIED)
def test_what_a_loop_carries_has_a_name_and_a_shape(name: str) -> None:
    class_, args, x = LOOPS[name]
    svg = Sweep(trace(class_(*args).eval(), (x,))).draw().svg
    carried = re.findall(r'class="mg-edge mg-flow-return"[^>]*data-tensor="([^"]*)"', svg)
    labels = re.findall(r'class="mg-label[^"]*" data-tensor="([^"]*)"[^>]*>([^<]*)<', svg)
    named = {text for tensor, text in labels if tensor in carried and re.match(r"[a-z]", text)}
    assert named == CARRIED[name]


@pytest.mark.parametrize("name", ["mixture", "sparse_mixture"])
def test_experts_are_one_box_in_order(name: str) -> None:
    class_, args, x = MODELS[name]
    drawn = Sweep(trace(class_(*args).eval(), (x,))).draw(depth=9)
    picture = Picture(Trace({"nodes": [], "hierarchy": {}, "adjacency": {}}), drawn.svg, drawn.rolled)
    assert [*picture.drawn.times.values()] == [6]
    assert [member for run in drawn.rolled.values() for member in run if re.fullmatch(r"experts\.\d", member)] == [
        f"experts.{i}" for i in range(6)
    ]


def test_a_norm_in_ops_is_one_box() -> None:
    class_, args, x = MODELS["normed"]
    sweep = Sweep(trace(class_(*args).eval(), (x,)))
    drawn = sweep.draw()
    assert {*Picture(sweep.trace, drawn.svg, drawn.rolled).drawn.boxes} == {
        *{"", "input:x", "norm", "fc", "/add", "output:output"}
    }


def test_what_only_python_reads_is_plumbing() -> None:
    class_, args, x = MODELS["checked"]
    sweep = Sweep(trace(class_(*args).eval(), (x,)))
    drawn = sweep.draw(depth=9)
    shown = {name.lstrip("/") for name in Picture(sweep.trace, drawn.svg, drawn.rolled).drawn.boxes}
    assert shown == {"", "input:tokens", "embed", "eq", "masked_fill", "head", "mse_loss", "argmax", "output:output"}
    everything = sweep.draw({**drawn.state, "plumbing": True}).svg
    assert {"/item", "/tolist", "/prod"} <= set(re.findall(r'data-id="([^"]*)"', everything))


# -- the oracle itself ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def stack() -> tuple[Sweep, Picture, str]:
    """The picture of a stack of equal blocks, rolled."""
    sweep = Sweep(deserialize((GOLDEN[0].parent / "stack.json").read_bytes()))
    drawn = sweep.draw(depth=0)
    return sweep, Picture(sweep.trace, drawn.svg, drawn.rolled), drawn.svg


def judged(stack: tuple[Sweep, Picture, str], old: str, new: str):
    """The verdict on a picture with another text in it."""
    sweep, picture, svg = stack
    assert old in svg
    return judge(Picture(sweep.trace, svg.replace(old, new, 1), picture.rolled), set(), shapes=False)


def test_a_path_that_is_missing(stack):
    assert ("blocks.0", "output:output", "data") in judged(stack, 'class="mg-edge" data-from="blocks.0"', "").missing


def test_a_path_that_leads_elsewhere(stack):
    verdict = judged(stack, 'data-from="input:x" data-to="blocks.0"', 'data-from="input:x" data-to="output:output"')
    assert verdict.drawn


def test_a_badge_with_another_number(stack):
    assert judged(stack, ">×4<", ">×2<").rolled


def test_a_flow_of_another_kind(stack):
    assert judged(stack, 'class="mg-edge"', 'class="mg-edge mg-flow-inferred"').invented


def test_a_return_that_is_missing():
    class_, args, x = LOOPS["fixed_point"]
    sweep = Sweep(trace(class_(*args).eval(), (x,)))
    drawn = sweep.draw()
    svg = re.sub(r'<path class="mg-edge mg-flow-return"[^>]*>', "", drawn.svg)
    assert svg != drawn.svg
    assert {flow for *_, flow in judge(Picture(sweep.trace, svg, drawn.rolled), set(), shapes=False).missing} >= {
        "return"
    }
