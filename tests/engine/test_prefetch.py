"""The models of many pages run in parallel."""

from __future__ import annotations

import threading

import pytest

from graphs import small_graph
from modeldiagrams.engine import builder as builder_module
from modeldiagrams.engine.builder import DiagramBuilder
from modeldiagrams.hosting.host import prefetch
from modeldiagrams.ir.serialize import serialize
from modeldiagrams.options.settings import Settings
from modeldiagrams.worker import Problem, Refused, Traced, Worker
from option_helpers import make_options

GRAPH = serialize(small_graph())


@pytest.fixture
def runs(monkeypatch):
    """Models that were run."""
    run: list[str] = []

    def trace(_worker, options, *_):
        run.append(options.call.model)
        if options.call.model == "pkg.Bad":
            return Refused(problem=Problem(kind="model", message="no"), output="bad")
        return Traced(graph=GRAPH, output=f"made {options.call.model}")

    monkeypatch.setattr(Worker, "trace", trace)
    monkeypatch.setattr(builder_module.Drawer, "render", lambda *_: None)
    return run


@pytest.fixture
def builder(tmp_path):
    with DiagramBuilder(tmp_path / "cache", folder=tmp_path) as builder:
        yield builder


def test_models_run_in_parallel(builder, monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda _: range(3), raising=False)
    together = threading.Barrier(3, timeout=120)
    monkeypatch.setattr(Worker, "trace", lambda *_: (together.wait() and None) or Traced(graph=GRAPH))
    builder.prefetch([make_options(model=f"pkg.Net{number}") for number in range(3)])


def test_each_model_runs_once_and_keeps_its_output(builder, runs):
    wanted = [make_options(model=f"pkg.{name}", depth=depth) for name in ("Net", "Bad", "Other") for depth in (1, 2)]
    builder.prefetch(wanted)
    assert sorted(runs) == ["pkg.Bad", "pkg.Net", "pkg.Other"]
    made = [(builder.build(options), builder.output) for options in wanted]
    assert len(runs) == 3
    assert [output for _, output in made] == ["made pkg.Net", "", "bad", "", "made pkg.Other", ""]
    assert [diagram.problem is None for diagram, _ in made] == [True, True, False, False, True, True]


def test_models_are_announced_in_the_order_of_their_pages(builder, runs):
    announced: list[str] = []
    builder.tracing.on_trace = announced.append
    pages = [f".. model-graph:: pkg.Net{number}" for number in range(20)]
    prefetch(builder, Settings(), [*pages, ".. model-graph:: net.json", ".. model-graph:: pkg.Bad\n   :depth: x"])
    assert announced == [f"pkg.Net{number}" for number in range(20)]
    assert sorted(runs) == sorted(announced)


def test_models_of_tours_are_prefetched(builder, runs):
    steps = "   .. tour-step:: One\n\n      Prose: of a step.\n"
    blocks = "/// model-tour | pkg.Other\n    inputs: [1, 4]\n\n//// tour-step | One\nProse.\n////\n///"
    prefetch(builder, Settings(), [f".. model-tour:: pkg.Net\n   :depth: 0\n\n{steps}", blocks])
    assert sorted(runs) == ["pkg.Net", "pkg.Other"]


@pytest.mark.parametrize("name", ["Net", "Bad"])
def test_known_models_are_not_run(builder, runs, name):
    builder.build(make_options(model=f"pkg.{name}"))
    builder.prefetch([make_options(model=f"pkg.{name}")])
    assert len(runs) == 1


def test_failure_of_one_thread_ends_the_others(builder, monkeypatch):
    def trace(_worker, options, *_):
        if options.call.model == "pkg.Net0":
            raise KeyboardInterrupt
        return Traced(graph=GRAPH)

    closed = []
    monkeypatch.setattr(Worker, "trace", trace)
    monkeypatch.setattr(Worker, "close", lambda _: closed.append(True))
    with pytest.raises(KeyboardInterrupt):
        builder.prefetch([make_options(model=f"pkg.Net{number}") for number in range(9)])
    assert closed


def test_nothing_is_run_without_torch(builder, runs, monkeypatch):
    monkeypatch.setattr(builder_module, "has_torch", lambda: False)
    builder.prefetch([make_options(model="pkg.Net")])
    assert not runs
