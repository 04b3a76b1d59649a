"""What runs on threads that a forward starts; the order between threads is as it happens.

Long because it is a list of cases, each with a small model of its own.
"""

import concurrent.futures
import contextlib
import gc
import itertools
import queue
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.pool import ThreadPool

import pytest
import torch
from torch import nn

from modeldiagrams.ir.graph import ConstantNode
from modeldiagrams.tracer import trace
from modeldiagrams.tracer.recording import module_calls
from modeldiagrams.tracer.recording.op_recorder import OpRecorder
from modeldiagrams.tracer.values.source_lines import SourceFinder
from tracer.traced_graph import Lambda, TracedGraph, checked, linear, traced, x

MODES = ("real", "fake")
POOL = ThreadPoolExecutor(2)
POOL.submit(int).result()  # one of its threads is there before any trace
_turns = itertools.count()


def wait():
    """Let another thread run first, another one every time."""
    time.sleep((next(_turns) % 3) / 500)


def shifted(h, number):
    wait()
    h = h * number
    wait()
    return h + torch.full((4,), float(number))


def on_threads(_model, h):
    found = {}

    def work(number):
        found[number] = shifted(h, number)

    threads = [threading.Thread(target=work, args=(number,)) for number in (1, 2, 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return torch.stack([found[number] for number in (1, 2, 3)])


class Worker(threading.Thread):
    def __init__(self, h, number):
        super().__init__()
        self.h, self.number, self.found = h, number, None

    def run(self):
        self.found = shifted(self.h, self.number)


def on_own_class(_model, h):
    workers = [Worker(h, number) for number in (1, 2, 3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        assert "run" not in vars(worker)
    return torch.stack([worker.found for worker in workers])


def in_new_pool(_model, h):
    with ThreadPoolExecutor(2) as pool:
        return torch.stack(list(pool.map(shifted, [h] * 3, (1, 2, 3))))


def in_old_pool(_model, h):
    return torch.stack([future.result() for future in [POOL.submit(shifted, h, number) for number in (1, 2, 3)]])


def in_process_like_pool(_model, h):
    with ThreadPool(2) as pool:
        return torch.stack(pool.starmap(shifted, [(h, 1), (h, 2), (h, 3)], chunksize=1))


def on_thread_of_a_thread(_model, h):
    def outer(number):
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(shifted, h, number).result()

    with ThreadPoolExecutor(3) as pool:
        return torch.stack(list(pool.map(outer, (1, 2, 3))))


WAYS = (on_threads, on_own_class, in_new_pool, in_old_pool, in_process_like_pool, on_thread_of_a_thread)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("way", WAYS)
def test_raw_ops_on_threads(way, mode):
    found = traced(Lambda(way), x(), mode=mode)
    assert sorted(node.id for node in found.graph.nodes[1:-2]) == [
        *("/add", "/add#2", "/add#3", "/full", "/full#2", "/full#3", "/mul", "/mul#2", "/mul#3"),
    ]
    assert sorted(op.arguments["other"] for op in found.ops["mul"]) == [1, 2, 3]
    assert found.graph.status.notes == (
        "Several threads ran operations; the order between threads can differ from run to run",
    )
    assert len(found.edges("mul", "add")) == 3
    assert len(found.edges("full", "add")) == 3
    assert not found.of(ConstantNode)
    line = shifted.__code__.co_firstlineno
    assert {op.source.rpartition("test_threads.py:")[2] for op in found.ops["mul"]} == {str(line + 2)}


@pytest.mark.parametrize("mode", MODES)
def test_one_module_on_several_threads(mode):
    def forward(self, h):
        def work(number):
            wait()
            return self.a(h * number)

        with ThreadPoolExecutor(3) as pool:
            return torch.cat(list(pool.map(work, range(12))))

    found = traced(Lambda(forward, a=linear()), x(), mode=mode)
    assert sorted(call.id for call in found.calls) == sorted(["a", *(f"a#{i}" for i in range(2, 13))])
    assert sorted(op.arguments["other"] for op in found.ops["mul"]) == list(range(12))
    assert {op.flops for op in found.ops["linear"]} == {96}


@pytest.mark.parametrize("mode", MODES)
def test_work_belongs_to_the_module_that_started_it(mode):
    class Inner(nn.Module):
        def forward(self, h):
            return on_threads(self, h)

    found = traced(Lambda(lambda self, h: self.inner(h) * 2, inner=Inner()), x(), mode=mode)
    assert {found.graph.hierarchy[op.id] for op in found.ops["full"]} == {"inner"}


@pytest.mark.parametrize("mode", MODES)
def test_threads_that_hand_parts_to_each_other(mode):
    """As stages of a pipeline hand on one part of the batch after the other."""

    def forward(_model, h):
        stages = [queue.Queue() for _ in range(3)]

        def stage(number):
            for _ in range(2):
                part = stages[number].get() * (number + 2)
                stages[number + 1].put(part)
                wait()

        threads = [threading.Thread(target=stage, args=(number,)) for number in (0, 1)]
        for thread in threads:
            thread.start()
        stages[0].put(h.sin())
        first = stages[2].get()
        stages[0].put(first.cos())
        for thread in threads:
            thread.join()
        return stages[2].get()

    found = traced(Lambda(forward), x(), mode=mode)
    assert [node.id for node in found.graph.nodes[1:-1]] == [
        *("/sin", "/mul", "/mul#2", "/cos", "/mul#3", "/mul#4"),
    ]


@pytest.mark.parametrize("mode", MODES)
def test_threads_that_write_to_parts_of_one_tensor(mode):
    def forward(_model, h, other):
        out = torch.zeros(2, 3, 4)

        def work(number, given):
            wait()
            out[number].copy_(given.sin())

        threads = [threading.Thread(target=work, args=job) for job in enumerate((h, other))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return out[0].exp(), out[1].cos(), out

    found = traced(Lambda(forward), x(), x(), mode=mode)
    assert [len(node.outputs) for node in found.ops["getitem"]] == [1] * 4
    first, second = (next(edge.to for edge in found.graph.adjacency[f"input:args[{i}]"]) for i in (0, 1))
    assert "/cos" not in found.reached([first])
    assert "/exp" not in found.reached([second])


def test_guesses_on_threads_belong_to_the_op_that_asked():
    def forward(self, h):
        def work(number):
            wait()
            return h * number if self.a(h).sum().item() else h

        with ThreadPoolExecutor(2) as pool:
            return torch.stack(list(pool.map(work, (1, 2, 3))))

    found = traced(Lambda(forward, a=linear()), x(), mode="auto")
    assert found.graph.status.mode == "fake"
    assert sorted(guess.node for guess in found.graph.status.guesses) == ["/item", "/item#2", "/item#3"]


def test_threads_started_by_others_are_not_recorded():
    stop, ran = threading.Event(), threading.Event()

    def other():
        while not stop.is_set():
            torch.ones(2).exp()
            ran.set()

    thread = threading.Thread(target=other)
    thread.start()

    def forward(self, h):
        ran.clear()
        ran.wait()
        return self.a(h)

    try:
        found = checked(Lambda(forward, a=linear()), x())
    finally:
        stop.set()
        thread.join()
    assert [node.id for node in found.graph.nodes[1:-1]] == ["a", "a/linear"]


@pytest.mark.parametrize("mode", MODES)
def test_modules_on_a_thread_from_before_the_trace_are_recorded(mode):
    with ThreadPool(1) as pool:
        found = traced(Lambda(lambda self, h: pool.apply(self.a, (h,)), a=linear()), x(), mode=mode)
    assert [node.id for node in found.graph.nodes[1:-1]] == ["a", "a/linear"]


def test_failure_on_a_thread_is_the_error_of_the_graph():
    def forward(_model, h):
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(lambda: h.sin() @ h).result()

    graph = trace(Lambda(forward), (x(),), mode="real")
    assert graph.status.error.node == "/matmul"
    assert [op.id for op in TracedGraph(graph).ops["sin"]] == ["/sin"]


@pytest.mark.parametrize("mode", MODES)
def test_thread_that_outlives_the_forward_is_recorded_no_more(mode):
    go, results = threading.Event(), queue.Queue()

    def late():
        go.wait()
        results.put(torch.ones(2) + 1)

    def forward(self, h):
        self.threads = [threading.Thread(target=late)]
        self.threads[0].start()
        threads.extend(self.threads)
        return self.a(h)

    threads = []
    graph = trace(Lambda(forward, a=linear()), (x(),), mode=mode)
    go.set()
    threads[0].join()
    assert [node.id for node in graph.nodes[1:-1]] == ["a", "a/linear"]
    assert type(results.get()) is torch.Tensor


class Late(torch.autograd.Function):
    """Raises when the forward that called it on a thread is over."""

    over = threading.Event()

    @staticmethod
    def forward(*_):
        Late.over.wait()
        raise ValueError("late")


def test_op_that_raises_when_the_forward_is_over_keeps_nothing_alive():
    def late(h):
        with contextlib.suppress(ValueError):
            Late.apply(h)

    def forward(self, h):
        threads.append(threading.Thread(target=late, args=(h,)))
        threads[0].start()
        time.sleep(0.2)
        return self.a(h)

    threads = []
    trace(Lambda(forward, a=linear()), (x(),), mode="real")
    Late.over.set()
    threads.pop().join()
    gc.collect()
    assert [held for held in gc.get_objects() if type(held) is OpRecorder] == []


@pytest.mark.parametrize("mode", MODES)
def test_thread_in_a_module_when_the_forward_ends_is_recorded_no_more(mode):
    go, started, results = threading.Event(), threading.Event(), queue.Queue()

    class Slow(nn.Module):
        def forward(self, h):
            started.set()
            go.wait()
            return h + 1

    def late(model):
        h = torch.ones(3)
        model.slow(h)
        results.put(h.contiguous() is h)  # while recorded, that is another

    def forward(self, h):
        thread = threading.Thread(target=late, args=(self,), name="late")
        thread.start()
        started.wait()
        return self.a(h)

    trace(Lambda(forward, a=linear(), slow=Slow()), (x(),), mode=mode)
    go.set()
    assert results.get(timeout=120)


def test_job_that_begins_when_the_forward_is_over_is_not_recorded():
    go, results = threading.Event(), queue.Queue()

    def late(h):
        results.put(h.contiguous() is h)

    def forward(self, h):
        POOL.submit(go.wait)
        POOL.submit(go.wait)
        POOL.submit(late, torch.ones(3))
        return self.a(h)

    trace(Lambda(forward, a=linear()), (x(),), mode="real")
    go.set()
    assert results.get(timeout=120)


def test_source_of_what_torch_runs_on_a_thread_is_where_it_was_started():
    def forward(self, h):
        with ThreadPoolExecutor(2) as pool:
            modules = list(pool.map(self.a, [h, h * 2]))
            return list(pool.map(torch.nn.functional.relu, modules))

    found = traced(Lambda(forward, a=linear()), x())
    first = forward.__code__.co_firstlineno
    for op, line in {"linear": first + 2, "relu": first + 3}.items():
        assert [node.source.rpartition("test_threads.py:")[2] for node in found.ops[op]] == [str(line)] * 2


CONSTANT = torch.ones(4)


def test_threads_that_meet_a_constant_and_a_module_at_once_share_them(monkeypatch):
    class Made(nn.Module):
        def forward(self, h):
            return h + 1

    def slow(find):
        def wait_and_find(*args):
            time.sleep(0.02)  # so that others come to this point, too
            return find(*args)

        return wait_and_find

    monkeypatch.setattr(SourceFinder, "global_name", slow(SourceFinder.global_name))
    monkeypatch.setattr(module_calls, "modules_of", slow(module_calls.modules_of))

    def forward(_model, h):
        made = Made()
        with ThreadPoolExecutor(3) as pool:
            return list(pool.map(lambda number: made(h * number) * CONSTANT, (1, 2, 3)))

    found = traced(Lambda(forward), x())
    assert [node.id for node in found.of(ConstantNode)] == [f"constant:{__name__}.CONSTANT"]
    assert sorted(call.id for call in found.calls) == ["Made", "Made#2", "Made#3"]


def test_trace_undoes_its_patches_of_threads():
    owners = (threading.Thread, concurrent.futures.Executor, ThreadPoolExecutor)
    before = [dict(vars(owner)) for owner in owners]
    trace(Lambda(in_new_pool), (x(),))
    trace(Lambda(lambda _self, h: h @ h), (x(),))
    assert [dict(vars(owner)) for owner in owners] == before
