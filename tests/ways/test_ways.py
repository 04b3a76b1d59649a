"""The ways that a traced model took, compared with what the interpreter and torch's hooks say about a plain pass."""

from __future__ import annotations

import gc
import sys
import threading
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from torch import nn

from modeldiagrams.ir.graph import Graph
from modeldiagrams.tracer import trace
from modeldiagrams.tracer.ways import finding, observer

SMALL = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 99}
IDS = torch.arange(12)[None]


class Parts(nn.Module):
    """Has sides of every kind."""

    def __init__(self) -> None:
        super().__init__()
        self.body, self.head, self.aux, self.teacher = (nn.Linear(4, 4) for _ in range(4))
        self.norm: nn.Module | None = None
        self.tied = nn.Linear(4, 4)
        self.tied.weight = self.body.weight
        self.attention = nn.MultiheadAttention(4, 2, batch_first=True)
        self.empty = nn.ModuleList()
        self.steps = 2

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None, *, task: str = "head") -> Any:
        y = self.body(x)
        if mask is not None:
            y = y.masked_fill(mask, 0)
        if self.training:
            y = y + torch.randn_like(y)
        y = y if self.norm is None else self.norm(y)
        for _ in range(self.steps):
            y = self.attention(y, y, y)[0]
        if y.dtype == torch.float16:
            y = y.clamp(-1, 1)
        if y.shape[1] > 100:
            return y.mean()
        loud = bool((y > 1e9).any())
        if loud:
            y = self.aux(y)
        elif task == "teach":
            y = self.teacher(y)
        else:
            y = self.head(y)
        return y


class Threaded(nn.Module):
    """Takes a side on another thread."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def part(self, x: torch.Tensor) -> None:
        self.y = self.fc(x) if len(x) == 2 else x.relu()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.ndim > 3:
            x = x.mean(0)
        thread = threading.Thread(target=self.part, args=(x,))
        thread.start()
        thread.join()
        return self.y


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="all threads are watched from Python 3.12 on")
def test_unwatched_threads_are_said() -> None:
    graph = trace(Threaded(), (torch.ones(2, 4),), mode="real")
    assert any(note.startswith("Other threads were not watched") for note in graph.status.notes)


def left(graph: Graph) -> set[tuple[str, str, str]]:
    """Condition, name and reason of the sides not taken."""
    return {(way.condition, side.name, way.waits_for) for way in graph.ways for side in way.sides if not side.taken}


@pytest.mark.parametrize("mode", ["real", "fake"])
def test_sides_and_their_reasons(mode: Any) -> None:
    graph = trace(Parts().eval(), (torch.randn(1, 3, 4),), mode=mode)
    assert left(graph) == {
        ("mask is not None", "yes", "input"),
        ("self.training", "yes", "mode"),
        ("self.norm is None", "no", "configuration"),
        ("y.dtype == torch.float16", "yes", "input"),
        ("y.shape[1] > 100", "yes", "size"),
        ("loud", "yes", "value"),
        ('task == "teach"', "yes", "input"),
    }
    assert {way.classes for way in graph.ways} == {(f"{__name__}.Parts",)}
    assert {Path(way.source.partition(":")[0]).name for way in graph.ways} == {Path(__file__).name}
    assert not [note for note in graph.status.notes if "failed to judge" in note]


def test_other_sides_of_another_pass() -> None:
    model = Parts().train()
    model.norm, model.steps = nn.LayerNorm(4), 0
    graph = trace(model, (torch.randn(1, 3, 4), torch.zeros(1, 3, 4, dtype=torch.bool)), {"task": "teach"}, mode="real")
    assert left(graph) == {
        ("range(self.steps)", "yes", "configuration"),
        ("y.dtype == torch.float16", "yes", "input"),
        ("y.shape[1] > 100", "yes", "size"),
        ("loud", "yes", "value"),
        ('task == "teach"', "no", "input"),
    }


def test_an_error_leaves_what_was_seen() -> None:
    model = Parts().eval()
    model.attention.forward = None  # type: ignore[assignment]
    graph = trace(model, (torch.randn(1, 3, 4),), mode="real")
    assert graph.status.state == "partial"
    assert [way.condition for way in graph.ways][-1] == "range(self.steps)"


@pytest.mark.parametrize("mode", ["real", "fake"])
def test_uncalled_modules_are_those_without_call_and_used_weight(mode: Any) -> None:
    graph = trace(Parts().eval(), (torch.randn(1, 3, 4),), mode=mode)
    assert [module.path for module in graph.uncalled] == ["aux", "teacher"]  # `tied` has the weight of `body`
    assert graph.uncalled[0].parameters.total == 20


def test_only_the_outermost_uncalled_module_is_listed() -> None:
    shared = nn.Linear(4, 4)
    model = nn.ModuleDict({"used": nn.Linear(4, 4), "unused": nn.Sequential(nn.Linear(4, 4), shared), "again": shared})

    def call(x: torch.Tensor) -> Any:
        return model["used"](x)

    assert trace(call, (torch.ones(1, 4),), mode="real").uncalled == ()  # a function registers no modules

    class Root(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.parts = model

        def forward(self, x: torch.Tensor) -> Any:
            return self.parts["used"](x)

    assert [module.path for module in trace(Root(), (torch.ones(1, 4),)).uncalled] == ["parts.unused"]


def plain_lines(model: nn.Module, kwargs: dict[str, Any]) -> dict[str, set[int]]:
    """Lines that run in a pass without the tracer, by file, as `sys.settrace` reports them."""
    lines: dict[str, set[int]] = defaultdict(set)

    def follow(frame: Any, event: str, _: Any) -> Any:
        if event == "line":
            lines[frame.f_code.co_filename].add(frame.f_lineno)
        return follow

    sys.settrace(follow)
    try:
        with torch.no_grad():
            model(**kwargs)
    finally:
        sys.settrace(None)
    return lines


def make_models() -> dict[str, tuple[nn.Module, dict[str, Any]]]:
    llama = transformers.LlamaConfig(**SMALL, num_key_value_heads=2)
    t5 = transformers.T5Config(vocab_size=99, d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4)
    return {
        "llama": (transformers.LlamaForCausalLM(llama), {"input_ids": IDS, "labels": IDS}),
        "bert": (transformers.BertModel(transformers.BertConfig(**SMALL)), {"input_ids": IDS}),
        "t5": (transformers.T5Model(t5), {"input_ids": IDS, "decoder_input_ids": IDS}),
    }


@pytest.mark.parametrize("name", ["llama", "bert", "t5"])
def test_sides_are_those_of_a_plain_pass(name: str) -> None:
    model, kwargs = make_models()[name]
    model.eval()
    graph = trace(model, (), kwargs, mode="real")
    lines = {Path(file).name: ran for file, ran in plain_lines(model, kwargs).items()}
    checked = 0
    for way in graph.ways:
        file = Path(way.source.partition(":")[0]).name
        for side in way.sides if way.statement in {"if", "for"} else ():
            if side.line != int(way.source.rpartition(":")[2]):  # on a line of its own
                assert side.taken == (side.line in lines[file]), (way, side)
                checked += 1
    assert checked > 3
    called: set[str] = set()
    for path, module in model.named_modules():
        module.register_forward_hook(lambda *_, path=path: called.add(path))
    with torch.no_grad():
        model(**kwargs)
    assert not {module.path for module in graph.uncalled} & called


def test_same_ways_each_time_and_nothing_kept() -> None:
    model, kwargs = make_models()["bert"]
    first = trace(model, (), kwargs)
    assert trace(model, (), kwargs).ways == first.ways
    assert first.ways
    assert sys.gettrace() is None
    gc.collect()


def test_a_debugger_is_left_alone() -> None:
    events: list[str] = []
    code = Parts.forward.__code__

    def debugger(frame: Any, event: str, _: Any) -> None:
        if frame.f_code is code:
            events.append(event)

    sys.settrace(debugger)
    try:
        graph = trace(Parts().eval(), (torch.randn(1, 3, 4),), mode="real")
        assert sys.gettrace() is debugger
    finally:
        sys.settrace(None)
    assert events == ["call"]
    assert graph.ways == ()
    assert any("debugger" in note for note in graph.status.notes)


def test_a_debugger_that_the_model_starts_is_left_alone() -> None:
    def debugger(*_: Any) -> None:
        pass

    kept: list[bool] = []

    class Debugged(Parts):
        def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None, *, task: str = "head") -> Any:
            sys.settrace(debugger)
            y = self.body(super().forward(x + 1, mask, task=task))
            kept.append(sys.gettrace() is debugger)
            return y

    try:
        trace(Debugged().eval(), (torch.randn(1, 3, 4),), mode="real")
        kept.append(sys.gettrace() is debugger)
    finally:
        sys.settrace(None)
    assert kept == [True, True]


def test_a_fault_in_finding_branches_is_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finding, "find_branches", lambda _: 1 / 0)
    graph = trace(Parts().eval(), (torch.randn(1, 3, 4),), mode="real")
    assert graph.status.state == "complete"
    assert any("failed to find the branches of the function at test_ways.py" in note for note in graph.status.notes)


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_what_a_signal_raises_during_an_event_is_not_lost(error: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: Any) -> None:
        raise error

    monkeypatch.setattr(observer.Observer, "_reach", interrupt)
    if error is KeyboardInterrupt:
        with pytest.raises(KeyboardInterrupt):
            trace(Parts().eval(), (torch.randn(1, 3, 4),), mode="real")
    else:
        assert trace(Parts().eval(), (torch.randn(1, 3, 4),), mode="real").status.error is not None
    assert sys.gettrace() is None
