"""Memory regions: which views overlap, and which writes reach them."""

import itertools

import pytest
import torch

from modeldiagrams.tracer.values.memory_regions import geometry_of, region_of
from modeldiagrams.tracer.values.value_tracker import spec_of
from tracer.traced_graph import Lambda, checked, x

MEMORY = torch.zeros(48, dtype=torch.int32)
WHOLE = MEMORY.view(4, 12)
VIEWS = {
    "whole": WHOLE,
    "left": WHOLE[:, :6],
    "right": WHOLE[:, 6:],
    "even": WHOLE[:, ::2],
    "odd": WHOLE[:, 1::2],
    "row": WHOLE[1],
    "diagonal": WHOLE.diagonal(),
    "turned": WHOLE.T[3:5],
    "windows": MEMORY.unfold(0, 6, 5)[:3],
    "repeated": WHOLE[2:, 3:4].expand(2, 5),
    "repeated with gaps": MEMORY[30::3][:2, None].expand(2, 2),
    "one": WHOLE[2, 7],
    "none": WHOLE[:0],
    "none within": WHOLE[2, 4:4],
    "bytes": MEMORY.view(torch.uint8)[52:60],
    "halves": MEMORY.view(torch.int16)[::5],
}


def bytes_of(view):
    """The bytes of a view, found by writing to it."""
    MEMORY.zero_()
    for part in [view] if view.dim() == 0 else view.unbind(-1):
        part.fill_(255 if view.dtype is torch.uint8 else -1)
    return set(MEMORY.view(torch.uint8).nonzero().flatten().tolist())


@pytest.mark.parametrize(("one", "other"), list(itertools.product(VIEWS, VIEWS)))
def test_regions_miss_no_overlap_and_claim_no_false_cover(one, other):
    mine, others = bytes_of(VIEWS[one]), bytes_of(VIEWS[other])
    first, second = view_region(one), view_region(other)
    assert first.overlaps(second) or not mine & others
    assert mine >= others or not first.covers(second)


@pytest.mark.parametrize(
    ("one", "other"), [("left", "right"), ("even", "odd"), ("row", "one"), ("whole", "none"), ("even", "none within")]
)
def test_separate_columns_rows_and_interleaved_elements_do_not_overlap(one, other):
    assert not view_region(one).overlaps(view_region(other))
    assert not view_region(other).overlaps(view_region(one))


def view_region(name):
    return region_of(geometry_of(VIEWS[name], spec_of(VIEWS[name])))


WRITES = {
    "columns": lambda h: (h[:, :2], h[:, 2:]),
    "every second": lambda h: (h[:, ::2], h[:, 1::2]),
    "rows": lambda h: (h[0], h[1:]),
}


@pytest.mark.parametrize("mode", ["real", "fake"])
@pytest.mark.parametrize("early", [True, False])
@pytest.mark.parametrize("split", WRITES)
def test_write_does_not_reach_separate_views(split, early, mode):
    def forward(_model, h, other):
        h = h.sin()
        written, rest = WRITES[split](h)
        written.mul_(other.sum())
        return (rest if early else WRITES[split](h)[1]).cos(), h.exp()

    found = checked(Lambda(forward), x(), x(), mode=mode)
    assert not found.flows("mul", "cos")
    assert found.edges("mul", "exp")
    assert found.flows("sin", "cos")


def test_write_through_view_of_other_dtype_reaches_only_overlapping_views():
    def forward(_model, h, other):
        h = h.sin()
        h.view(torch.uint8)[2, 8:12].copy_(other)
        return h[:2].cos(), h[2].exp()

    found = checked(Lambda(forward), x(), torch.arange(4, dtype=torch.uint8))
    assert found.flows("copy", "exp")
    assert not found.flows("copy", "cos")


def test_empty_write_reaches_no_view():
    def forward(_model, h, other):
        h = h.sin()
        h[1:1].copy_(other.cos()[1:1])
        return h.exp(), other.sum(), h[:0]

    found = checked(Lambda(forward), x(), x())
    assert not found.flows("cos", "exp")
    assert found.flows("sin", "exp")
