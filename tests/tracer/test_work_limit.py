"""The work limit of a pass: no operator begins after it, but C++ code still gets the properties of tensors."""

from __future__ import annotations

import pytest
import torch

from modeldiagrams.tracer.recording.work_limit import PassTooLargeError, Work, count_call, is_query, work_limited

ADD = torch.ops.aten.add.Tensor


def test_without_a_limit_every_operator_begins():
    count_call()
    count_call(ADD)


def test_no_operator_begins_after_the_limit():
    with work_limited(Work(calls=0)), pytest.raises(PassTooLargeError):
        count_call(ADD)


@pytest.mark.parametrize(
    "query", [torch.ops.prim.device.default, torch.ops.aten.sym_size.default, torch.ops.aten.is_contiguous.default]
)
def test_properties_of_tensors_are_known_after_the_limit(query):
    with work_limited(Work(calls=0)):
        count_call(query)


def test_operators_that_make_several_tensors_or_write_in_place_are_no_queries():
    assert not is_query(torch.ops.aten.split.Tensor)
    assert not is_query(torch.ops.aten.sigmoid_.default)
    assert not is_query(torch.ops.higher_order.cond)


def test_a_limit_ends_with_its_block():
    with work_limited(Work(calls=0)):
        pass
    count_call(ADD)
