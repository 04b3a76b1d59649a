"""Many models run several at a time, with few of them in memory."""

from __future__ import annotations

import io
import sys
import threading
import time

import pytest

from graphs import small_graph
from modeldiagrams.engine import progress as progress_module
from modeldiagrams.engine.many_graphs import run_each
from modeldiagrams.engine.model_graphs import Tracing, Workers
from modeldiagrams.engine.progress import Progress
from modeldiagrams.engine.store import Store
from modeldiagrams.errors import WorkerError
from modeldiagrams.ir.serialize import serialize
from modeldiagrams.worker import Problem, Refused, Traced, Worker
from option_helpers import make_options


def test_items_are_taken_as_results_leave():
    taken: list[int] = []
    ended: list[int] = []
    items = (taken.append(item) or item for item in range(1000))
    for item, result in run_each(items, str, 3, on_error=lambda: None):
        ended.append(item)
        assert result == str(item)
        assert len(taken) - len(ended) <= 3
    assert sorted(ended) == [*range(1000)]


def test_results_come_when_they_are_there():
    waits = threading.Event()
    results = run_each(["slow", "quick"], lambda item: item == "quick" or waits.wait(120), 2, on_error=waits.set)
    assert next(results) == ("quick", True)
    waits.set()
    assert [*results] == [("slow", True)]


def test_an_error_or_an_early_end_stops_the_rest():
    def run(item):
        if item == "bad":
            raise WorkerError("no more")
        assert waits.wait(120)

    for stop in (lambda results: [*results], lambda results: results.close()):
        waits = threading.Event()
        results = run_each(["bad", *"ab"], run, 2, on_error=waits.set)
        with pytest.raises(WorkerError, match="no more"):
            next(results)
        assert waits.is_set()
        stop(results)
    waits = threading.Event()
    results = run_each(["good", *"ab"], lambda item: item == "good" or waits.wait(120), 2, on_error=waits.set)
    assert next(results) == ("good", True)
    results.close()
    assert waits.is_set()


@pytest.fixture
def tracing(tmp_path, monkeypatch):
    """Fake traces; the names of models that ran are in `ran`."""
    content = serialize(small_graph())

    def trace(_worker, options, *_):
        tracing.ran.append(options.call.model)
        if "Bad" in options.call.model:
            return Refused(problem=Problem(kind="model", message="no"))
        return Traced(graph=content)

    monkeypatch.setattr(Worker, "trace", trace)
    tracing = Tracing(Store(tmp_path / "cache"), Workers(2), tmp_path, [])
    tracing.ran = []
    return tracing


def test_an_interrupted_run_does_only_the_rest_the_next_time(tracing):
    wanted = [make_options(model=f"pkg.{'Bad' if number == 3 else 'Net'}{number}") for number in range(20)]
    results = tracing.each(wanted)
    first = [next(results) for _ in range(8)]
    results.close()
    assert 8 <= len(tracing.ran) <= 10
    found = {options.call.model: loaded for options, loaded in tracing.each(wanted)}
    assert [*sorted(found)] == sorted(options.call.model for options in wanted)
    assert sorted(tracing.ran) == sorted(found)  # each once
    assert [isinstance(found[options.call.model], Refused) for options in wanted] == [n == 3 for n in range(20)]
    assert len(first) == 8


def test_prefetched_graphs_wait_on_disk(tracing):
    tracing.prefetch([make_options(model=f"pkg.{name}") for name in ("Net", "Bad")])
    assert [type(loaded) for loaded, _ in tracing._fresh.values()] in ([type(None), Refused], [Refused, type(None)])


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("kind", [Terminal, io.StringIO])
def test_progress_says_how_far_it_is_and_what_runs(monkeypatch, kind):
    monkeypatch.setattr(progress_module, "_EVERY", 0.05)
    monkeypatch.setattr(progress_module, "_REDRAW", 0.05)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr(sys, "stderr", kind())
    with Progress(5) as progress:
        for number in range(4):
            progress.start(f"pkg.Net{number}")
        progress.end("pkg.Net1", has_failed=True)
        end = time.monotonic() + 60
        while "1 failed" not in sys.stderr.getvalue() and time.monotonic() < end:
            time.sleep(0.01)
    written = sys.stderr.getvalue()
    assert ("1/5" if kind is Terminal else "traced 1 of 5 models, 1 failed") in written
    assert "running: pkg.Net0, pkg.Net2, 1 more" in written
    assert max(map(len, written.replace("\r", "\n").splitlines())) <= 120
