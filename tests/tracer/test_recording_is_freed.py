"""What a pass recorded is freed as soon as its graph is built."""

import gc

import pytest
import torch
from torch import nn

from modeldiagrams.tracer import trace
from modeldiagrams.tracer.patches.fake_tensors import new_fake_mode
from modeldiagrams.tracer.recording.op_recorder import OpRecorder
from modeldiagrams.tracer.values.pass_records import GraphInput, ModuleCall, Op, Value
from modeldiagrams.tracer.values.scopes import Scope

RECORDS = {GraphInput, ModuleCall, Op, OpRecorder, Scope, Value}


def normalized(x):
    scaled = (x - x.mean()) / x.std()
    with torch.profiler.record_function("activation"):
        return scaled.relu() * scaled.sigmoid()


class Model(nn.Sequential):
    def forward(self, x):
        return normalized(super().forward(x)) + 1


def records():
    """All records that are alive, by id."""
    return {id(held): held for held in gc.get_objects() if type(held) in RECORDS}


@pytest.mark.parametrize("costs", [False, True])
@pytest.mark.parametrize("mode", ["fake", "real"])
def test_recording_is_freed_without_garbage_collection(mode, costs):
    new_fake_mode()  # the first one imports modules of torch, which hold frames until the next collection
    torch.overrides.get_ignored_functions.cache_clear()  # made anew by the next trace
    torch.overrides._get_overridable_functions.cache_clear()
    gc.collect()
    gc.disable()
    before = records()  # which a thread or a traceback of an earlier test holds
    try:
        graph = trace(Model(nn.Linear(4, 4), nn.BatchNorm1d(4)), (torch.ones(2, 4),), mode=mode, costs=costs)
        left = [type(held).__name__ for key, held in records().items() if key not in before]
    finally:
        gc.enable()
    assert graph.status.state == "complete"
    assert len(graph.functions) == 2
    assert left == []
