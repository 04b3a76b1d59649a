"""Parts of memory: which of them a view shows, and who wrote them."""

import itertools

import pytest
import torch

from modeldiagrams.tracer.provenance import spec_of
from modeldiagrams.tracer.regions import geometry_of, region
from tracer.seen import Applies, seen, x

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
    """Which bytes a view shows, found out by writing to them."""
    MEMORY.zero_()
    for part in [view] if view.dim() == 0 else view.unbind(-1):
        part.fill_(255 if view.dtype is torch.uint8 else -1)
    return set(MEMORY.view(torch.uint8).nonzero().flatten().tolist())


@pytest.mark.parametrize(("one", "other"), list(itertools.product(VIEWS, VIEWS)))
def test_regions_compare_as_writing_to_them_tells(one, other):
    mine, others = bytes_of(VIEWS[one]), bytes_of(VIEWS[other])
    first, second = (region(geometry_of(VIEWS[name], spec_of(VIEWS[name]))) for name in (one, other))
    assert first.overlaps(second) == bool(mine & others)
    assert first.covers(second) == (mine >= others) or not others


def test_what_is_too_large_to_compare_is_taken_to_overlap():
    large = torch.zeros(2, 1, device="meta").expand(2, 1 << 23).clone()
    even, odd = (region(geometry_of(view, spec_of(view))) for view in (large[:, ::2], large[:, 1::2]))
    assert even.overlaps(odd)
    assert not even.covers(odd)


WRITES = {
    "columns": lambda h: (h[:, :2], h[:, 2:]),
    "every second": lambda h: (h[:, ::2], h[:, 1::2]),
    "rows": lambda h: (h[0], h[1:]),
    "diagonal": lambda h: (h[:, :3].diagonal(), h[0, 1:]),
}


@pytest.mark.parametrize("mode", ["real", "fake"])
@pytest.mark.parametrize("early", [True, False])
@pytest.mark.parametrize("split", WRITES)
def test_write_does_not_reach_what_it_does_not_touch(split, early, mode):
    def forward(_model, h, other):
        h = h.sin()
        written, rest = WRITES[split](h)
        written.mul_(other.sum())
        return (rest if early else WRITES[split](h)[1]).cos(), h.exp()

    found = seen(Applies(forward), x(), x(), mode=mode)
    assert not found.flows("mul", "cos")
    assert found.edges("mul", "exp")
    assert found.flows("sin", "cos")


def test_write_in_another_type_reaches_what_it_touches():
    def forward(_model, h, other):
        h = h.sin()
        h.view(torch.uint8)[2, 8:12].copy_(other)
        return h[:2].cos(), h[2].exp()

    found = seen(Applies(forward), x(), torch.arange(4, dtype=torch.uint8))
    assert found.flows("copy", "exp")
    assert not found.flows("copy", "cos")


def test_write_of_nothing_reaches_nothing():
    def forward(_model, h, other):
        h = h.sin()
        h[1:1].copy_(other.cos()[1:1])
        return h.exp(), other.sum(), h[:0]

    found = seen(Applies(forward), x(), x())
    assert not found.flows("cos", "exp")
    assert found.flows("sin", "exp")
