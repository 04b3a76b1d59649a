"""How long ops take: what is measured, against clocks and PyTorch's own profiler, and where nothing is."""

import itertools
import threading
import time

import pytest
import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile

from modeldiagrams.engine.snapshots import Snapshots
from modeldiagrams.ir.check import check_graph
from modeldiagrams.ir.graph import ModuleNode, OpNode
from modeldiagrams.ir.serialize import deserialize, save, serialize
from modeldiagrams.ir.structure import structural_digest
from modeldiagrams.tracer import forward_pass, trace
from modeldiagrams.tracer.graph import measured_times as times
from tracer.traced_graph import Lambda, linear, x

SLEEP_NS = 20_000_000


class Slow(torch.autograd.Function):
    """An op of a known length."""

    @staticmethod
    def forward(_ctx, h):
        time.sleep(SLEEP_NS / 1e9)
        return h + 1

    @staticmethod
    def backward(_ctx, grad):
        return grad


class Counting(nn.Module):
    """Counts its passes where no trace restores it, and does slow Python between its ops."""

    passes = itertools.count()

    def __init__(self):
        super().__init__()
        self.first, self.rest = nn.Linear(4, 4), nn.Sequential(nn.Linear(4, 8), nn.ReLU())

    def forward(self, h):
        type(self).last = next(self.passes)
        time.sleep(SLEEP_NS / 1e9)
        return self.rest(Slow.apply(self.first(h)))


def timed(model, *args, **options):
    graph = trace(model, args, measure_time=True, **options)
    check_graph(graph)
    assert deserialize(serialize(graph)) == graph
    return graph


def ops_of(graph):
    return {node.id: node.time_ns for node in graph.nodes if isinstance(node, OpNode)}


def note_of(graph):
    assert graph.model.time_ns is None
    assert set(ops_of(graph).values()) == {None}
    return graph.status.notes[-1]


def test_the_op_that_sleeps_takes_the_longest_and_python_between_ops_nothing():
    first, start = next(Counting.passes), time.perf_counter_ns()
    graph = timed(Counting(), x())
    elapsed, passes = time.perf_counter_ns() - start, Counting.last - first
    ops = ops_of(graph)
    assert graph.status.mode == "real"
    assert ops.pop("/Slow") >= SLEEP_NS
    assert all(0 < taken < SLEEP_NS for taken in ops.values())
    # each pass sleeps as long in Python; the recorded one is not timed
    assert passes > 1
    assert (passes - 1) * (graph.model.time_ns + SLEEP_NS) < elapsed


def test_module_calls_take_what_their_ops_take():
    graph = timed(Counting(), x())
    ops = ops_of(graph)
    for node in graph.nodes:
        if isinstance(node, ModuleNode):
            assert node.time_ns == sum(ops[inner.id] for inner in graph.descendants(node) if inner.id in ops) > 0
    assert graph.model.time_ns == sum(ops.values())


def helper(h):
    return torch.relu(h * 2) + 1


def test_functions_take_what_their_ops_take():
    graph = timed(Lambda(lambda _, h: helper(helper(h))), x())
    assert len(graph.functions) == 2
    assert sum(call.time_ns for call in graph.functions.values()) == graph.model.time_ns


def test_times_agree_with_the_profiler():
    model, given = nn.Linear(1500, 1500), torch.ones(600, 1500)
    ours, theirs = ops_of(timed(model, given))["/linear"], []
    for _ in range(5):
        with profile(activities=[ProfilerActivity.CPU]) as profiler:
            model(given)
        theirs.append(next(event for event in profiler.key_averages() if event.key == "aten::linear").cpu_time_total)
    assert 1 / 4 < ours / (1000 * min(theirs)) < 4


def test_nothing_is_measured_unless_asked_for():
    before = next(Counting.passes)
    graph = trace(Counting(), (x(),))
    assert Counting.last - before == 1
    assert set(ops_of(graph).values()) == {None}
    assert b"time_ns" not in serialize(graph)


def test_the_least_of_several_passes_counts(monkeypatch):
    taken = iter([5, 3, 4])
    monkeypatch.setattr(times, "_MOST_PASSES", 3)
    graph = trace(nn.ReLU(), (x(),), mode="real")
    ran = times.add_times(graph, lambda: times.TimedPass({"/relu": "torch.nn.functional.relu"}, {"/relu": next(taken)}))
    assert ops_of(ran) == {"/relu": 3}
    assert next(taken, None) is None


def test_a_long_pass_is_timed_once(monkeypatch):
    monkeypatch.setattr(times, "_SECONDS", 0.001)
    before = next(Counting.passes)
    assert ops_of(timed(Counting(), x()))["/Slow"] >= SLEEP_NS
    assert Counting.last - before == 2


def test_a_trace_with_times_changes_nothing():
    model, given = nn.Sequential(nn.BatchNorm1d(4), nn.Dropout(), nn.ReLU(inplace=True)).train(), x()
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    random, kept = torch.get_rng_state(), given.clone()
    timed(model, given)
    assert all(torch.equal(tensor, before[name]) for name, tensor in model.state_dict().items())
    assert torch.equal(torch.get_rng_state(), random)
    assert torch.equal(given, kept)


def test_the_same_ops_are_seen_as_without_times():
    model = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 2)
    given = torch.ones(2, 3, 8)
    plain, with_times = trace(model, (given,), mode="real"), timed(model, given)
    assert [node.id for node in plain.nodes] == [node.id for node in with_times.nodes]
    assert plain.model.flops == with_times.model.flops
    assert None not in ops_of(with_times).values()


def test_structure_and_snapshots_know_nothing_of_times(tmp_path):
    one, other = timed(linear(), x()), timed(linear(), x())
    plain = trace(linear(), (x(),), mode="real")
    assert structural_digest(one) == structural_digest(other) == structural_digest(plain)
    save(one, tmp_path / "net.json")
    assert Snapshots(tmp_path).compare("net", other) is None


@pytest.mark.filterwarnings("ignore:.*is deprecated:DeprecationWarning")
def test_a_scripted_module_is_one_op_with_its_time():
    graph = timed(nn.Sequential(torch.jit.script(nn.Sequential(nn.Linear(4, 4), nn.ReLU()))), x())
    assert [taken > 0 for taken in ops_of(graph).values()] == [True]


def test_ops_of_an_autograd_function_that_calls_modules_have_times():
    layer = linear()

    class Calling(torch.autograd.Function):
        @staticmethod
        def forward(_ctx, h):
            return layer(h), h + 1

    graph = timed(Lambda(lambda _, h: Calling.apply(h), layer=layer), x())
    ops = ops_of(graph)
    assert ops["layer/linear"] > 0
    assert ops["/add"] > 0


def test_an_op_whose_failure_the_model_catches_is_none():
    def forward(_, h):
        try:
            h = h @ torch.ones(5, 5)
        except RuntimeError:
            h = torch.relu(h)
        return h

    assert None not in ops_of(timed(Lambda(forward), x())).values()


def test_ops_are_waited_for_on_devices_that_run_them_while_python_goes_on(monkeypatch):
    waited = []

    def synchronize(device):
        waited.append(device)
        time.sleep(SLEEP_NS / 1e9)

    monkeypatch.setattr(times, "_MOST_PASSES", 1)
    monkeypatch.setattr(forward_pass, "accelerators_of", lambda _: {torch.device("cpu")})
    monkeypatch.setattr(torch.accelerator, "synchronize", synchronize)
    # before the op, for what runs already, and after it
    assert SLEEP_NS <= timed(nn.ReLU(), x()).model.time_ns < 2 * SLEEP_NS
    assert waited == [torch.device("cpu")] * 2


@pytest.mark.parametrize("mode", ["fake", "meta"])
def test_modes_without_values_are_refused(mode):
    with pytest.raises(ValueError, match=f"measure_time: expected the mode auto or real, .* the mode {mode}"):
        trace(linear(), (x(),), mode=mode, measure_time=True)


def test_weights_on_the_meta_device_take_no_time():
    graph = trace(nn.Linear(4, 4, device="meta"), (torch.ones(1, 4, device="meta"),), measure_time=True)
    assert note_of(graph) == "The time of operations was not measured: its parameters are on the meta device"


def test_a_pass_that_runs_only_without_values_takes_no_time():
    graph = trace(Lambda(lambda _, h: h + torch.empty(1 << 60)[:4]), (x(),), measure_time=True)
    assert graph.status.mode == "fake"
    assert graph.status.notes[0].startswith("Traced without real values, because with them the model raised")
    assert note_of(graph) == "The time of operations was not measured: no real pass succeeded"


@pytest.mark.parametrize("mode", ["auto", "real"])
def test_a_model_that_raises_takes_no_time(mode):
    graph = trace(linear(), (torch.ones(1, 5),), measure_time=True, mode=mode)
    assert (graph.status.mode, graph.status.state) == ("real", "partial")
    assert len(graph.status.notes) == 1
    assert note_of(graph) == "The time of operations was not measured: the model raised an exception"


@pytest.mark.parametrize(
    ("again", "reason"),
    [
        (lambda h: h * 2, "it ran other operations when it ran again"),
        (lambda h: h @ torch.ones(5, 5), "when it ran again, the model raised RuntimeError"),
    ],
)
def test_a_model_that_runs_differently_again_takes_no_time(again, reason):
    passes = itertools.count()
    graph = trace(Lambda(lambda _, h: again(h) if next(passes) else torch.relu(h)), (x(),), measure_time=True)
    assert note_of(graph) == f"The time of operations was not measured: {reason}"


def test_ops_that_run_at_the_same_time_take_no_time_of_their_own():
    def forward(_, h):
        thread = threading.Thread(target=lambda: torch.relu(h))
        thread.start()
        thread.join()
        return h + 1

    note = note_of(trace(Lambda(forward), (x(),), measure_time=True))
    assert note == "The time of operations was not measured: several threads ran them at the same time"
