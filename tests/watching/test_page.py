"""A recording as pages carry it: exact merging, then rounding, within a budget."""

from __future__ import annotations

import math
from itertools import accumulate

import msgspec
import pytest

from modeldiagrams import Recording
from modeldiagrams.watching.file.histogram import INFINITE, NAN, Histogram, list_edges
from modeldiagrams.watching.file.records import Anomaly, Key, Loss, Moment, Row, Run
from modeldiagrams.watching.page import PageRecording, _estimate_size, build_page_recording

OUT, GRADIENT = Key("conv", "activation"), Key("conv", "gradient")
UPDATE = Key("conv", "update", "weight")


def recording(rows, losses=(), anomalies=()):
    """A recording of these rows, each at a step of its own."""
    moments = [Moment(step=10 * i, rows=at) for i, at in enumerate(rows)]
    return Recording([Run(step=0, notes=("eager",))], moments, losses, anomalies)


def row(**measures):
    return Row(**{"count": 100, "norm": 3.0, "histogram": Histogram({100: 50, -100: 25, 0: 25}), **measures})


def numbers(series, *, share=False):
    """What the viewer reads."""
    codes = list(accumulate(code or 0 for code in series))
    found = []
    for code, written in zip(codes, series, strict=True):
        number = code / 1000 if share else code and math.copysign(10 ** ((abs(code) - 5000) / 100), code)
        found.append(None if written is None else number)
    return found


def the_only(page):
    (tensor,) = page.tensors
    return tensor


def test_values_are_accurate_after_rounding():
    means = [1e-30, -0.5, 0.0, 123.0, 3.4e38]
    page = build_page_recording(recording({OUT: row(mean=mean)} for mean in means), "run", ["conv"])
    assert numbers(the_only(page).values["mean"]) == pytest.approx(means, rel=0.012)


def test_unseen_and_non_finite_tensors_have_no_value():
    rows = [{OUT: row(mean=2.0)}, {}, {OUT: row(mean=math.nan, bad=3)}]
    tensor = the_only(build_page_recording(recording(rows), "run", ["conv"]))
    assert tensor.seen == "101"
    assert numbers(tensor.values["mean"])[1:] == [None, None]
    assert numbers(tensor.values["bad"], share=True) == [0, None, 0.03]


def test_a_small_share_is_not_zero():
    rows = [{OUT: row(count=10**9, bad=1, dead=1, units=10**6)}]
    values = the_only(build_page_recording(recording(rows), "run", ["conv"])).values
    assert numbers(values["bad"], share=True) == [0.001]
    assert numbers(values["dead"], share=True) == [0.001]


def test_moments_are_merged_exactly():
    rows = [{OUT: row(min=-i, max=i, bad=i % 2)} for i in range(400)]
    page = build_page_recording(recording(rows, [Loss(step, float(step)) for step in range(4000)]), "run", ["conv"])
    assert len(page.steps) == 200
    assert page.steps[:2] == (10, 30)
    assert page.loss[:2] == (5.0, 20.5)
    values = the_only(page).values
    assert numbers(values["max"])[-1] == pytest.approx(399, rel=0.012)
    assert numbers(values["bad"], share=True)[:2] == [0.005, 0.005]


def test_a_non_finite_loss_is_a_gap():
    losses = [Loss(0, 1.0), Loss(5, math.inf), Loss(15, 2.0)]
    page = build_page_recording(recording([{OUT: row()}] * 3, losses), "run", ["conv"])
    assert page.loss == (1.0, None, 2.0)


def test_heat_has_each_value_in_the_row_of_its_bin():
    histogram = Histogram({300: 40, 220: 20, 0: 30, -220: 10, NAN: 4, INFINITE: 2})
    tensor = the_only(build_page_recording(recording([{OUT: row(histogram=histogram)}]), "run", ["conv"]))
    heat = tensor.heat
    side = heat.highest - heat.lowest + 1
    assert len(heat.rows) == 2 * side + 1
    shown = {place: int(cell) for place, cell in enumerate(heat.rows) if cell != "0"}
    # positive ones from the top, then zero, then negative ones
    assert shown == {0: 7, side - 1: 6, side: 7, side + 1: 5}
    low, high = list_edges(heat.highest, 2)
    assert low <= list_edges(300)[0] < high


def test_small_magnitudes_count_as_zero():
    histogram = Histogram({1: 1, 250: 999})
    heat = the_only(build_page_recording(recording([{OUT: row(histogram=histogram)}]), "run", ["conv"])).heat
    assert heat.lowest == heat.highest
    assert heat.rows == ("7", "1", "0")


def test_a_tensor_of_zeros_has_no_heat():
    rows = [{OUT: row(histogram=Histogram({0: 100}), norm=0.0)}]
    assert the_only(build_page_recording(recording(rows), "run", ["conv"])).heat is None


def test_tensors_are_in_graph_order_and_unknown_nodes_are_named():
    rows = [{Key("b", "activation"): row(), Key("gone", "activation"): row(), Key("a", "activation"): row()}]
    page = build_page_recording(recording(rows), "run", ["a", "b"])
    assert [tensor.node for tensor in page.tensors] == ["a", "b"]
    assert page.strangers == ("gone",)
    assert page.notes == ("eager",)


def test_findings_keep_their_order():
    found = [Anomaly(step=step, kind="failure", node="conv", what="activation", text=str(step)) for step in (30, 10)]
    page = build_page_recording(recording([{OUT: row()}], anomalies=found), "run", ["conv"])
    assert [(one.step, one.kind, one.what, one.text) for one in page.findings] == [
        (10, "failure", "activation", "10"),
        (30, "failure", "activation", "30"),
    ]


def test_other_phases_and_inputs_are_left_out():
    rows = [{OUT: row(), Key("conv", "input", "x"): row()}]
    found = recording(rows)
    moments = (*found.moments, Moment(step=5, phase="validation", rows={GRADIENT: row()}))
    page = build_page_recording(Recording(found.runs, moments), "run", ["conv"])
    assert [(tensor.kind, tensor.seen) for tensor in page.tensors] == [("activation", "1")]


def test_a_page_stays_within_its_budget():
    nodes = [f"layers.{i}" for i in range(10)]
    rows = [
        {
            Key(node, "activation"): row(
                mean=math.sin(7 * i + place),
                min=-1 - math.cos(i * place),
                max=math.exp(math.sin(i + place)),
                norm=1 + math.cos(i**2 + place),
                histogram=Histogram({100 + (i * k + place) % 150: k for k in range(1, 30)}),
            )
            for place, node in enumerate(nodes)
        }
        for i in range(200)
    ]
    found = recording(rows)
    unlimited = build_page_recording(found, "run", nodes)
    limited = build_page_recording(found, "run", nodes, most_bytes=20_000)
    assert len(unlimited.steps) == 200
    assert len(limited.steps) == 100
    assert _estimate_size(limited) <= 20_000 < _estimate_size(unlimited)
    assert limited.steps[-1] == unlimited.steps[-1]


def test_a_model_with_very_many_tensors_stays_within_its_budget():
    nodes = [f"layers.{i}" for i in range(60)]
    rows = [
        {
            Key(node, "activation"): row(
                mean=math.sin(7 * i + place),
                histogram=Histogram({100 + (i * k + place) % 150: k for k in range(1, 30)}),
            )
            for place, node in enumerate(nodes)
        }
        for i in range(24)
    ]
    found = recording(rows)
    for most in (1_800, 1_400):
        page = build_page_recording(found, "run", nodes, most_bytes=most)
        assert _estimate_size(page) <= most
        assert len(page.tensors) == 60
        assert all(tensor.heat is None for tensor in page.tensors)
        assert page.notes == ("eager", "This model has too many tensors for maps of their values on a page.")


def test_equal_recordings_give_equal_bytes_and_can_be_read_back():
    rows = [{OUT: row(), UPDATE: row(ratio=0.01)}] * 3
    one, other = (build_page_recording(recording(rows), "run", ["conv"]) for _ in range(2))
    text = msgspec.json.encode(one)
    assert text == msgspec.json.encode(other)
    assert msgspec.json.decode(text, type=PageRecording) == one


def test_an_empty_recording_is_an_empty_page():
    page = build_page_recording(Recording(), "run", ["conv"])
    assert (page.steps, page.tensors, page.findings) == ((), (), ())
