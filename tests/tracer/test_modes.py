"""Real, fake, meta and auto: what each computes, guesses and says.

Long because it is a list of cases, each with a small model of its own.
"""

import contextlib
import gc
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch import nn

from modeldiagrams.ir.check import check_graph
from modeldiagrams.ir.graph import OpNode
from modeldiagrams.tracer import trace
from modeldiagrams.tracer.recording import endless_loops
from tracer.traced_graph import Lambda, TracedGraph, checked, linear, names, x


def test_auto_computes_nothing():
    huge = nn.Sequential(nn.Linear(4, 1 << 20, device="meta"), nn.Linear(1 << 20, 4, device="meta"))
    assert trace(huge, (torch.empty(3, 4, device="meta"),)).status.mode == "meta"
    assert trace(linear(), (x(),)).status.mode == "fake"


def test_fake_and_real_show_the_same():
    model = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval()
    given = torch.randn(2, 5, 8)
    fake, real = (trace(model, (given,), mode=mode) for mode in ("fake", "real"))
    assert fake.nodes == real.nodes
    assert fake.adjacency == real.adjacency
    assert fake.tensors == real.tensors


def test_python_on_small_integer_tensors_is_exact_in_fake_mode():
    def forward(self, h, lengths):
        if bool((lengths > 0).all()):
            h = torch.sin(h)
        for _ in range(int(lengths.max())):
            h = self.a(h)
        return h[: lengths.tolist()[0]]

    graph = trace(Lambda(forward, a=linear()), (x(), torch.tensor([2, 3])), mode="fake")
    found = TracedGraph(graph)
    assert graph.status.error is None
    assert graph.status.guesses == ()
    assert len(found.ops["linear"]) == 3
    assert graph.tensors["/getitem:0"].shape == (2, 4)


def test_write_to_a_small_tensor_is_known_to_its_views():
    def forward(_self, h):
        counts = torch.zeros(3, dtype=torch.int64)
        first = counts[0]
        counts.add_(2)
        return h * 2 if int(counts[0]) == 2 and int(first) != 0 else h * 3

    graph = trace(Lambda(forward), (x(),), mode="fake")
    assert TracedGraph(graph).ops["mul"][0].arguments == {"other": 2}


def test_guess_is_recorded():
    def forward(self, h):
        h = self.a(h)
        return h if h.sum() > 0 else self.a(h)

    graph = trace(Lambda(forward, a=linear()), (x(),), mode="fake")
    (guess,) = graph.status.guesses
    assert guess.node == "/bool"
    assert guess.value is False
    assert guess.reason == "item needs values that were not computed"
    assert len(TracedGraph(graph).ops["linear"]) == 2


@pytest.mark.parametrize("costs", [True, False])
def test_guess_that_no_op_asked_for_is_recorded_without_one(costs):
    model = Lambda(lambda self, h: (f"{self.a(h).sum():.3f}", h + 1)[1], a=linear())
    graph = trace(model, (x(),), mode="fake", costs=costs)
    assert [(guess.node, guess.value) for guess in graph.status.guesses] == [(None, 1.0)]


def greedy(self, h):
    """Marks one element after the other, until all are marked: an endless loop if every question is answered alike."""
    seen, steps = torch.zeros(4, dtype=torch.bool), []
    while not seen.all():
        with contextlib.suppress(Exception):
            at = self.a(h).mean(0).masked_fill(seen, float("-inf")).argmax(-1)
            seen = seen.scatter(0, at[None], value=True)
            steps.append(at)
    return torch.stack(steps)


def test_endless_question_ends_the_pass_without_values(monkeypatch):
    monkeypatch.setattr(endless_loops, "_ENDLESS", ((60, 0),))
    graph = trace(Lambda(greedy, a=linear()), (x(),))
    assert (graph.status.mode, graph.status.state, graph.status.guesses) == ("real", "complete", ())
    assert graph.tensors["/stack:0"].shape == (4,)
    (note,) = graph.status.notes
    assert "test_modes.py:" in note
    assert "asked 61 times for a value that was not computed" in note


def test_endless_question_around_a_large_model_ends_early(monkeypatch):
    monkeypatch.setattr(endless_loops, "_ENDLESS", ((600, 0), (5, 500)))

    def forward(self, h):
        while not self.a(h).sum() > 0:
            for _ in range(100):
                h = h + 1

    status = trace(Lambda(forward, a=linear()), (x(),), mode="fake").status
    assert (status.state, status.error.type) == ("partial", "EndlessLoop")
    assert "asked 6 times" in status.error.message


def test_loop_that_an_assumed_answer_ends_says_so():
    def forward(self, h):
        for _ in range(5):
            h = self.a(h)
            if h.sum() > 0:
                break
        return h

    (note,) = trace(Lambda(forward, a=linear()), (x(),)).status.notes
    assert "test_modes.py:" in note
    assert "asked 5 times" in note
    assert trace(Lambda(lambda self, h: h if (h := self.a(h)).sum() > 0 else -h, a=linear()), (x(),)).status.notes == ()


def test_loop_that_one_assumed_answer_ends_says_so():
    """The first answer is known, whatever the input is; the second is not, so that one step is drawn."""

    def forward(self, h):
        previous = h + 10
        while (h - previous).abs().max() > 1e-4:
            previous, h = h, torch.tanh(self.a(h)) * 0.5
        return h

    status = trace(Lambda(forward, a=linear()), (x(),), mode="fake").status
    assert [guess.value for guess in status.guesses] == [False]
    (note,) = status.notes
    assert "test_modes.py:" in note
    assert "asked 2 times for a value that was not always computed" in note


def test_known_answers_elsewhere_make_no_loop():
    def forward(self, h):
        known = torch.tensor([2.0])
        h = h if known > 1 else -h
        h = h if known > 0 else -h
        return h if self.a(h).sum() > 0 else -h

    assert trace(Lambda(forward, a=linear()), (x(),), mode="fake").status.notes == ()


def test_tensors_that_nobody_knows_are_not_close():
    graph = trace(Lambda(lambda self, h: self.a(h) if torch.allclose(self.a(h), h) else h * 2, a=linear()), (x(),))
    assert (graph.status.mode, [guess.node for guess in graph.status.guesses]) == ("fake", ["/allclose"])


@pytest.mark.parametrize("mode", ["fake", "auto"])
def test_known_mask_as_index_picks_what_it_picks(mode):
    def forward(self, h):
        return self.a(h)[torch.arange(3) != 1]

    found = checked(Lambda(forward, a=linear()), x(), mode=mode)
    assert found.graph.status.guesses == ()
    assert found.graph.tensors["/getitem:0"].shape == (2, 4)


def test_unknown_mask_as_index_picks_every_element():
    graph = trace(Lambda(lambda self, h: h[self.a(h) > 0], a=linear()), (x(),), mode="fake")
    assert graph.tensors["/getitem:0"].shape == (12,)
    assert [guess.value for guess in graph.status.guesses] == ["every element"]


ROWS = torch.arange(1.0, 60_001).reshape(300, 200)
"""Too large to be computed beside the fakes. What is assumed of values that were not computed holds for these."""
GUESSED = {
    "masked_select": lambda h: h.masked_select(h > 0),
    "masked_select with a larger mask": lambda h: h[0].masked_select(h > 0),
    "mask as index": lambda h: h[h > 0],
    "mask as index of columns": lambda h: h[:, h[0] > 0],
    "unique": lambda h: h.unique(return_inverse=True, return_counts=True),
    "unique rows": lambda h: torch.unique(h, dim=0, return_inverse=True, return_counts=True),
    "unique_consecutive": lambda h: h.unique_consecutive(return_inverse=True, return_counts=True),
    "unique_consecutive columns": lambda h: h.unique_consecutive(return_inverse=True, return_counts=True, dim=1),
    "bincount": lambda h: h.sign().long().flatten().bincount(minlength=4),
    "bincount with weights": lambda h: h.sign().long().flatten().bincount(h.flatten(), minlength=4),
    "repeat_interleave": lambda h: h.flatten().repeat_interleave(h.sign().long().flatten()),
}


@pytest.mark.parametrize("name", GUESSED)
def test_where_an_assumption_holds_outputs_are_as_computed(name):
    found = {mode: trace(Lambda(lambda _, h: GUESSED[name](h)), (ROWS,), mode=mode) for mode in ("fake", "real")}
    assert len(found["fake"].status.guesses) == 1
    assert returned(found["fake"]) == returned(found["real"])


def returned(graph):
    assert graph.status.error is None
    return {name: graph.tensors[tensor] for name, tensor in graph.model.outputs.items()}


def test_guesses_about_numbers_made_of_fractions_agree():
    def forward(self, h):
        lengths = self.a(h).exp().round().long()  # how often each row is repeated: FastSpeech's length regulator
        if lengths.sum() == 0:
            lengths[lengths.sum(dim=1).eq(0)] = 1
        longest = lengths.sum(dim=1).max()
        out = torch.zeros(len(h), longest, 4)
        for i, (row, length) in enumerate(zip(h.sin(), lengths, strict=True)):
            repeated = torch.repeat_interleave(row, length, dim=0)
            out[i, : len(repeated)] = repeated[:, None]
        return out

    found = checked(Lambda(forward, a=linear()), x(), mode="auto")
    assert found.graph.status.mode == "fake"
    assert {guess.node: guess.value for guess in found.graph.status.guesses} == {
        "/bool": False,
        "/zeros": 4,
        **dict.fromkeys(
            ("/repeat_interleave", "/repeat_interleave#2", "/repeat_interleave#3"),
            "as if whole numbers made of others were 1",
        ),
    }
    assert found.flows("repeat_interleave", "setitem")


def test_sizes_guessed_one_by_one_share_what_there_is():
    """As mixtures of experts count the rows of each expert."""

    def forward(self, h):
        h = self.a(h)
        counts = [int(count) for count in (h[:2, 0] * 9).to(torch.int64).unbind()]
        return torch.cat([self.a(part) for part in h.split(counts)])

    graph = trace(Lambda(forward, a=linear()), (x(),), mode="fake")
    assert graph.status.error is None
    assert [guess.value for guess in graph.status.guesses] == [1, 1, "even parts"]
    assert graph.tensors["/cat:0"].shape == (3, 4)


def test_wrong_split_is_the_models_failure():
    graph = trace(Lambda(lambda self, h: self.a(h).split([1, 1])[0], a=linear()), (x(),), mode="fake")
    assert graph.status.error.type == "RuntimeError"


def test_checks_of_the_author_are_taken_to_hold():
    def forward(self, h):
        h = self.a(h)
        torch._check_tensor_all(h < 1e9, lambda: "too big")
        return h if (h < 1e9).all() else self.a(h)

    graph = trace(Lambda(forward, a=linear()), (x(),), mode="fake")
    assert graph.status.error is None
    assert [guess.value for guess in graph.status.guesses] == [True, False]


def test_fall_back_to_real_says_why():
    graph = trace(Lambda(lambda self, h: torch.from_numpy(self.a(h).detach().numpy()), a=linear()), (x(),))
    assert graph.status.mode == "real"
    assert graph.status.state == "complete"
    assert ".numpy() is not supported" in graph.status.notes[0]


def split_where_a_tensor_says(values):
    return torch.tensor_split(values, torch.tensor([1, 3]))[1]


def pad_strided_nested_tensor(values):
    return torch.nested.as_nested_tensor([values[:2], values]).to_padded_tensor(0.0)


def loss_of_lengths_as_tuples(values):
    scores = values[:, None, :].log_softmax(2)
    return nn.functional.ctc_loss(scores, torch.tensor([[1, 2]]), (len(values),), (2,))


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
@pytest.mark.parametrize("forward", [split_where_a_tensor_says, pad_strided_nested_tensor, loss_of_lengths_as_tuples])
def test_where_fakes_have_no_kernel_the_real_pass_is_shown(forward):
    values = torch.rand(5, 4)
    alone = trace(forward, (values,), mode="fake").status
    assert (alone.mode, alone.state) == ("fake", "partial")
    graph, real = trace(forward, (values,)), trace(forward, (values,), mode="real")
    assert (graph.status.mode, graph.status.state, graph.status.guesses) == ("real", "complete", ())
    (note,) = graph.status.notes
    assert note.startswith(f"Traced with real values, because without them the model raised {alone.error.type}: ")
    assert alone.error.message.splitlines()[0] in note
    assert (graph.nodes, graph.adjacency, graph.tensors) == (real.nodes, real.adjacency, real.tensors)
    (returned,) = graph.model.outputs.values()
    assert graph.tensors[returned].shape == tuple(forward(values).shape)


@pytest.mark.parametrize(
    ("forward", "mode"),
    [
        (lambda self, h: torch.mul(self.a(h), 2, out=torch.empty(3, 4)), "fake"),
        (lambda self, h: self.a(h) + self.a.weight.add_(1).sum(), "fake"),
        (lambda self, h: h.copy_(torch.from_numpy(self.a(h).numpy())), "real"),
    ],
)
def test_what_runs_only_without_gradients_is_traced_without(forward, mode):
    graph = trace(Lambda(forward, a=linear()), (x(),))
    assert (graph.status.error, graph.status.mode) == (None, mode)
    assert any(note.startswith("Traced without gradients, because with them the model") for note in graph.status.notes)
    assert torch.is_grad_enabled()


def test_failure_without_gradients_is_the_models_own():
    status = trace(Lambda(lambda self, h: self.a(h) @ h, a=linear()), (x(),), mode="fake").status
    assert (status.error.type, status.notes) == ("RuntimeError", ())
    with torch.no_grad():
        status = trace(Lambda(lambda self, h: self.a(h).sum().backward(), a=linear()), (x(),), mode="fake").status
    assert ("does not require grad" in status.error.message, status.notes) == (True, ())


def test_memory_that_is_not_there_is_not_handed_out():
    graph = trace(Lambda(lambda self, h: torch.from_dlpack(self.a(h).detach()).exp_(), a=linear()), (x(),))
    assert graph.status.error is None
    assert graph.status.mode == "real"
    assert "another library" in graph.status.notes[0]


@pytest.mark.parametrize(("mode", "used"), [("auto", "fake"), ("meta", "meta")])
def test_meta_model_takes_inputs_of_any_device(mode, used):
    model = Lambda(lambda self, h, n: self.a(h) if bool(n.all()) else h, a=linear()).to("meta")
    graph = trace(model, (x(), torch.ones(2, dtype=torch.bool)), mode=mode)
    assert graph.status.mode == used
    assert graph.status.error is None
    assert graph.status.guesses == ()


def test_meta_model_reads_values_of_its_inputs_as_if_it_had_memory():
    def forward(self, h, sizes):
        assert not h.is_meta
        return self.a(h.expand(*sizes.tolist(), -1))

    graph = trace(Lambda(forward, a=linear()).to("meta"), (x(), torch.tensor([2, 3])))
    assert (graph.status.mode, graph.status.error, graph.status.guesses) == ("fake", None, ())
    assert graph.status.notes == ()


def test_meta_model_with_buffers():
    model = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4)).to("meta")
    graph = trace(model, (torch.empty(3, 4, device="meta"),))
    assert graph.status.state == "complete"
    assert graph.model.flops == 2 * 3 * 4 * 4


@pytest.mark.parametrize("mode", ["real", "fake"])
def test_inputs_are_not_touched(mode):
    given = x()
    before = given.clone()
    trace(Lambda(lambda self, h: self.a(h.mul_(2)), a=linear()), (given,), mode=mode)
    assert torch.equal(given, before)


def test_plain_function_is_a_model():
    graph = trace(lambda a, b: torch.sin(a) + b, (x(),), {"b": x()})
    assert list(graph.model.inputs) == ["a", "b"]
    assert graph.model.name.endswith("<lambda>")
    check_graph(graph)


@pytest.mark.parametrize("model", [torch.Tensor.abs, x().add])
def test_method_written_in_c_is_a_model(model):
    graph = trace(model, (x(),))
    assert graph.status.state == "complete"
    assert not graph.model.name.startswith("None")


@pytest.mark.parametrize("mode", ["real", "fake"])
@pytest.mark.parametrize(
    "forward",
    [
        lambda self, h: self.a(h) * h.sum().item(),
        lambda self, h: self.a(h) * torch.IntTensor([1, 2, 3, 4]),
        lambda self, h: self.a(h) @ h,
        lambda self, h: list(ThreadPoolExecutor(2).map(self.a, [h])),
    ],
)
def test_trace_keeps_nothing_alive(forward, mode):
    model, given = Lambda(forward, a=linear()), x()
    kept = [weakref.ref(model), weakref.ref(given)]
    gc.collect()
    gc.disable()
    try:
        trace(model, (given,), mode=mode)
        del model, given
        assert [reference() for reference in kept] == [None, None]
    finally:
        gc.enable()


def test_caught_error_is_no_failure():
    def forward(self, h):
        try:
            h = torch.cat([h, torch.ones(2, 2, 2)])
        except RuntimeError:
            h = torch.sin(h)
        return self.a(h)

    found = checked(Lambda(forward, a=linear()), x())
    assert names(found.of(OpNode)) == ["torch.ones", "torch.sin", "torch.nn.functional.linear"]


@pytest.mark.parametrize("mode", ["real", "fake"])
def test_error_raised_in_place_of_an_ops_own_ends_the_graph_at_that_op(mode):
    def forward(self, h):
        h = self.a(h)
        try:
            return h @ torch.ones(7, 7)
        except RuntimeError as error:
            raise ValueError("wrong width") from error

    graph = trace(Lambda(forward, a=linear()), (x(),), mode=mode)
    assert (graph.status.error.type, graph.status.error.node) == ("ValueError", "/matmul")
    assert graph.nodes[-1].id == "/matmul"


def test_error_after_one_that_was_dealt_with_is_not_at_the_ops():
    def forward(self, h):
        try:
            h @ torch.ones(7, 7)
        except RuntimeError:
            h = self.a(h)
        raise ValueError("other")

    graph = trace(Lambda(forward, a=linear()), (x(),), mode="real")
    assert graph.status.error.node is None
    assert graph.nodes[-1].id == "a/linear"


def test_wrong_use_is_told_and_not_traced():
    with pytest.raises(ValueError, match="mode: expected one of auto, fake, meta, real, got 'fkae'"):
        trace(torch.nn.ReLU(), (torch.ones(1),), mode="fkae")
    with pytest.raises(TypeError, match=r"write \(x,\)"):
        trace(torch.nn.ReLU(), torch.ones(2, 3))
