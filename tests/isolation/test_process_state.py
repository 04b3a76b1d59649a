"""What is noticed when a model leaves it behind; the functions themselves, without a process of their own."""

from __future__ import annotations

import builtins
import signal
import threading

import pytest
import torch

from modeldiagrams.errors import TargetError
from modeldiagrams.target.process import has_changed, process_state, put_on
from modeldiagrams.worker.process import _environment


@pytest.fixture
def removed_folder(tmp_path, monkeypatch):
    """The working directory is gone."""

    def remove():
        (tmp_path / "gone").mkdir()
        monkeypatch.chdir(tmp_path / "gone")
        (tmp_path / "gone").rmdir()

    return remove


def test_nothing_has_changed_when_nothing_has():
    before = process_state()
    torch.nn.Linear(2, 2)(torch.ones(1, 2)).sum().backward()
    assert not has_changed(before, process_state())


def test_a_new_module_or_name_is_no_change(monkeypatch):
    before = process_state()
    monkeypatch.setattr(torch.nn.functional, "new_function", len, raising=False)
    assert not has_changed(before, process_state())


def test_a_removed_working_directory_is_noticed(removed_folder):
    before = process_state()
    removed_folder()
    assert has_changed(before, process_state())


@pytest.mark.parametrize(
    ("holder", "name"),
    [
        (torch, "cat"),
        (torch.nn.functional, "linear"),
        (torch.nn.Module, "__call__"),
        (torch.nn.Linear, "forward"),
        (torch.Tensor, "__add__"),
        (builtins, "print"),
    ],
)
def test_a_patched_function_is_noticed(monkeypatch, holder, name):
    before = process_state()
    monkeypatch.setattr(holder, name, lambda *_, **__: None)
    after = process_state()
    monkeypatch.undo()
    assert has_changed(before, after)


def test_a_variable_is_noticed(monkeypatch):
    before = process_state()
    monkeypatch.setenv("HOSTILE", "yes")
    assert has_changed(before, process_state())


@pytest.mark.parametrize(
    ("change", "undo"),
    [
        (lambda: torch.set_default_dtype(torch.float64), lambda: torch.set_default_dtype(torch.float32)),
        (lambda: torch.set_default_device("meta"), lambda: torch.set_default_device(None)),
        (lambda: torch.set_grad_enabled(False), lambda: torch.set_grad_enabled(True)),
        (lambda: torch.use_deterministic_algorithms(True), lambda: torch.use_deterministic_algorithms(False)),
    ],
    ids=["dtype", "device", "grad", "deterministic"],
)
def test_a_setting_of_torch_is_noticed(change, undo):
    before = process_state()
    change()
    after = process_state()
    undo()
    assert has_changed(before, after)


@pytest.mark.parametrize(
    ("change", "undo"),
    [
        (lambda: signal.setitimer(signal.ITIMER_REAL, 600), lambda: signal.setitimer(signal.ITIMER_REAL, 0)),
        (lambda: signal.signal(signal.SIGUSR1, print), lambda: signal.signal(signal.SIGUSR1, signal.SIG_DFL)),
    ],
    ids=["alarm", "handler"],
)
def test_a_signal_to_come_is_noticed(change, undo):
    before = process_state()
    change()
    after = process_state()
    undo()
    assert has_changed(before, after)


def test_a_thread_is_noticed():
    before = process_state()
    end = threading.Event()
    thread = threading.Thread(target=end.wait)
    thread.start()
    after = process_state()
    end.set()
    thread.join()
    assert has_changed(before, after)


def test_models_see_no_gpu_unless_asked_for_and_few_threads(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3")
    assert _environment(gpu=False)["CUDA_VISIBLE_DEVICES"] == ""
    assert _environment(gpu=True)["CUDA_VISIBLE_DEVICES"] == "3"
    assert _environment(gpu=True)["OMP_NUM_THREADS"] == "2"
    monkeypatch.setenv("OMP_NUM_THREADS", "5")
    assert _environment(gpu=True)["OMP_NUM_THREADS"] == "5"


def test_model_and_inputs_are_put_on_a_device():
    model = torch.nn.Linear(2, 2)
    args, kwargs = put_on("meta", model, ((torch.ones(1),), {"x": [torch.ones(1), 3]}), "Model")
    assert {str(value.device) for value in (model.weight, args[0], kwargs["x"][0])} == {"meta"}
    assert kwargs["x"][1] == 3
    with pytest.raises(TargetError, match="moving Model to the device hip:99 raised "):
        put_on("hip:99", model, (), "Model")
