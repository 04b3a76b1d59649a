"""What the import of a package may change for libraries that are imported after it, and what models may use."""

from __future__ import annotations

import builtins

import pytest
import torch

from modeldiagrams.errors import TargetError
from modeldiagrams.resolve.values.device import move_to_device
from modeldiagrams.worker.child import _make_environment
from modeldiagrams.worker.process_state import has_changed, process_state


def test_plain_model_changes_nothing():
    before = process_state()
    torch.nn.Linear(2, 2)(torch.ones(1, 2)).sum().backward()
    assert not has_changed(before, process_state())


def test_new_name_in_a_module_is_no_change(monkeypatch):
    before = process_state()
    monkeypatch.setattr(torch.nn.functional, "new_function", len, raising=False)
    assert not has_changed(before, process_state())


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (torch, "cat"),
        (torch.nn.functional, "linear"),
        (torch.nn.Module, "__call__"),
        (torch.nn.Linear, "forward"),
        (torch.Tensor, "__add__"),
        (builtins, "print"),
    ],
)
def test_replaced_function_is_a_change(monkeypatch, owner, name):
    before = process_state()
    monkeypatch.setattr(owner, name, lambda *_, **__: None)
    after = process_state()
    monkeypatch.undo()
    assert has_changed(before, after)


def test_removed_function_is_a_change(monkeypatch):
    before = process_state()
    monkeypatch.delattr(torch, "cat")
    after = process_state()
    monkeypatch.undo()
    assert has_changed(before, after)


def test_environment_is_a_change(monkeypatch):
    before = process_state()
    monkeypatch.setenv("HOSTILE", "yes")
    assert has_changed(before, process_state())


def test_default_dtype_is_a_change():
    before = process_state()
    torch.set_default_dtype(torch.float64)
    after = process_state()
    torch.set_default_dtype(torch.float32)
    assert has_changed(before, after)


def test_models_see_no_gpu_unless_asked_for_and_few_threads(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3")
    assert _make_environment(gpu=False)["CUDA_VISIBLE_DEVICES"] == ""
    assert _make_environment(gpu=True)["CUDA_VISIBLE_DEVICES"] == "3"
    assert _make_environment(gpu=True)["OMP_NUM_THREADS"] == "2"
    monkeypatch.setenv("OMP_NUM_THREADS", "5")
    assert _make_environment(gpu=True)["OMP_NUM_THREADS"] == "5"


def test_model_and_inputs_move_to_a_device():
    model = torch.nn.Linear(2, 2)
    args, kwargs = move_to_device("meta", model, ((torch.ones(1),), {"x": [torch.ones(1), 3]}), "Model")
    assert {str(value.device) for value in (model.weight, args[0], kwargs["x"][0])} == {"meta"}
    assert kwargs["x"][1] == 3
    with pytest.raises(TargetError, match="moving Model to the device hip:99 raised "):
        move_to_device("hip:99", model, (), "Model")
