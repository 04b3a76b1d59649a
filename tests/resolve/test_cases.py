"""Options `cases` and `method`: several passes of a model in one graph, and other entries than `forward`."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional

import modeldiagrams
from modeldiagrams.engine.problems import make_forward_problem
from modeldiagrams.errors import ModelDiagramsError, OptionError, TargetError
from modeldiagrams.ir.check import check_graph
from modeldiagrams.ir.serialize import serialize
from modeldiagrams.options.options import Call
from modeldiagrams.options.parsing import parse_options
from modeldiagrams.resolve import graph_of, resolve, seeded
from modeldiagrams.resolve.case_traces import trace_cases

MADE = []


class Net(nn.Module):
    """A module of Lightning without Lightning."""

    def __init__(self, width=4):
        super().__init__()
        MADE.append(width)
        self.fc = nn.Linear(4, width)
        self.drop = nn.Dropout()
        self.head = nn.Linear(width, 2)

    def forward(self, x, mask=None):
        x = self.drop(self.fc(x).relu())
        if self.training:
            x = x + 0
        return self.head(x if mask is None else x * mask)

    def training_step(self, batch, batch_idx):  # noqa: ARG002  (as Lightning calls it)
        x, y = batch
        loss = functional.cross_entropy(self(x), y)
        return {"loss": loss, "error": (self.forward(x).argmax(1) != y).float().mean()}


class Plain(Net):
    """Does without what only training does."""

    def forward(self, x, mask=None):
        x = self.drop(self.fc(x).relu())
        return self.head(x if mask is None else x * mask)


class Reads(nn.Module):
    """Needs values in one case."""

    def forward(self, x, by_value: bool = False):
        if by_value and type(x) is not torch.Tensor:
            raise RuntimeError("no values")
        return x.relu()


def call(model, cases, **options):
    return parse_options({"model": f"{__name__}.{model}", "cases": cases, **options}).call


def trace(model, cases, **options):
    graph = trace_cases(call(model, cases, **options), None, lambda target: target, lambda: 0).graph
    check_graph(graph)
    return graph


def alone(model, **options):
    chosen = Call(model=f"{__name__}.{model}", **options)
    with seeded():
        return graph_of(resolve(chosen), chosen.mode or "auto")


BATCH = {"batch": [[2, 4], {"shape": [2], "dtype": "int64"}], "batch_idx": {"value": 0}}


def test_each_case_is_what_its_options_give_alone():
    MADE.clear()
    cases = {
        "infer": {"inputs": [2, 4]},
        "train": {"training": True, "method": "training_step", "inputs": BATCH},
        "masked": {"inputs": {"x": [2, 4], "mask": [4]}},
        "wide": {"kwargs": {"width": 5}},
    }
    graph = trace("Net", cases)
    assert MADE == [4, 5]  # a model for each way to make one
    assert [case.name for case in graph.cases] == [*cases]
    for name, options in cases.items():
        assert serialize(graph.case(name)) == serialize(alone("Net", **options))
    only = {node.id: node.cases for node in graph.nodes}
    assert only["fc/linear"] == only["head/linear"] == ()
    assert only["/cross_entropy"] == only["/add"] == (1,)
    assert [case.text for case in graph.cases][0::3] == ["inputs: [2, 4]", "kwargs: {width: 5}"]


def test_a_case_takes_the_inputs_of_the_diagram_or_its_own():
    graph = trace("Net", "{a: , b: {inputs: [3, 4]}}", inputs=[2, 4])
    assert graph.tensors["input:x:0"].shape == (2, 4)
    assert graph.cases[1].tensors["input:x:0"].shape == (3, 4)
    own = call("Net", "{a: {inputs: [1, 4]}}", inputs_from="mypkg.make").case_calls()["a"][0]
    assert (own.inputs, own.inputs_from) == ([1, 4], None)


def test_method_is_the_entry_and_its_signature_tells_the_inputs():
    graph = alone("Net", method="training_step")
    assert graph.status.state == "complete"
    assert {a.subject: a.value for a in graph.assumptions}["inputs.batch_idx"] == "{value: 0}"
    assert {"input:batch[0]", "fc/linear", "fc#2/linear", "/cross_entropy", "output:loss"} <= {*graph.hierarchy}
    assert not any(node.class_ == f"{__name__}.Net" for node in graph.module_calls())
    with pytest.raises(TargetError, match=r"has no method 'trainig_step'; did you mean 'training_step'\?"):
        alone("Net", method="trainig_step")


class Streams(nn.Module):
    """Yields what it computes, and remembers its passes; generates without being of transformers."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.register_buffer("passes", torch.zeros(()))
        self.seen = []

    def forward(self, x):
        self.passes += 1
        self.seen.append(x)
        return self.fc(x)

    def stream(self, x):
        for _ in range(2):
            x = self(x)
            yield x

    def generate(self, x, **_):
        return [*self.stream(x)]


def test_a_method_that_yields_calls_forward():
    graph = modeldiagrams.trace(Streams(), (torch.ones(2, 4),), cases={"a": {"method": "stream"}})
    assert [node.id for node in graph.module_calls()] == ["fc", "fc#2"]
    with pytest.raises(TargetError, match="expected a module, got builtin_function_or_method"):
        modeldiagrams.trace(torch.relu_, (torch.ones(2),), cases={"a": {"method": "stream"}})


def test_generation_changes_nothing():
    model = Streams()
    graph = modeldiagrams.trace(model, (torch.ones(2, 4),), cases="generate")
    assert [case.name for case in graph.cases] == ["prefill", "decode"]
    assert (model.passes, model.seen, [*vars(model)]) == (0, [], [*vars(Streams())])


def test_a_case_that_fails_is_listed_and_reported_by_name():
    graph = trace("Net", "{good: , bad: {inputs: [1, 5]}, none: {method: foo}}", inputs=[1, 4])
    assert [case.status.state for case in graph.cases] == ["complete", "partial", "partial"]
    assert "has no method 'foo'" in graph.cases[2].status.error.message
    problem = make_forward_problem("Net", graph)
    assert problem.message.startswith("case 'bad': the forward pass of Net raised RuntimeError: mat1 and mat2")
    assert problem.remark.startswith("case 'none': ")
    assert "has no method 'foo'" in problem.remark
    with pytest.raises(TargetError, match="foo"):
        trace("Net", "{none: {method: foo}}")


def test_cases_run_in_one_mode_if_they_can():
    graph = trace("Reads", "{plain: , value: {inputs: {x: [4], by_value: {value: true}}}}", inputs=[4])
    assert [case.status.mode for case in graph.cases] == ["real", "real"]
    assert not any("branches may differ" in note for note in graph.status.notes)
    graph = trace("Reads", "{plain: {mode: fake}, value: {inputs: {x: [4], by_value: {value: true}}}}", inputs=[4])
    assert [case.status.mode for case in graph.cases] == ["fake", "real"]
    assert "value ran with real values and plain without" in graph.status.notes[-1]


@pytest.mark.parametrize(
    ("cases", "problem"),
    [
        ("{a: {inputs: [4]}, a: {}}", "the key 'a' is given twice"),
        ("{a: 5}", r"case 'a': expected a map of options, \{training: true\}, and it is 5"),
        ("{a: {inptus: [4]}}", r"case 'a': no option of a case is called 'inptus' \(did you mean 'inputs'\?\)"),
        ("{a: {depth: 4}}", r"is called 'depth' \(there are method, training, mode, args, "),
        ("{a: {training: 3}}", "case 'a', option 'training': expected true or false, and it is 3"),
        ({str(i): {} for i in range(11)}, "at most 10 cases, and these are 11"),
        ("generat", "expected a map from names of cases to their options, or `generate`, got 'generat'"),
        ("{}", "expected a map from names of cases"),
    ],
)
def test_wrong_cases_get_one_located_sentence(cases, problem):
    with pytest.raises(OptionError, match=problem) as caught:
        call("Net", cases)
    assert str(caught.value).startswith("option `cases`: ")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of what torch.compile imports
def test_cases_of_an_own_model():
    model, x = Net(), torch.ones(2, 4)
    batch = (x, torch.zeros(2, dtype=torch.long))
    graph = modeldiagrams.trace(
        model,
        (x,),
        cases={"infer": {"training": False}, "train": {"method": "training_step", "args": (batch, 0)}},
    )
    check_graph(graph)
    assert model.training
    assert "forward" not in vars(model)
    model.eval()
    assert serialize(graph.case("infer")) == serialize(modeldiagrams.trace(model, (x,)))
    assert graph.node("/cross_entropy").cases == (1,)
    assert [case.text for case in graph.cases] == ["training: False", "method: training_step, args: (([2, 4], [2]), 0)"]
    compiled = modeldiagrams.trace(
        torch.compile(model), cases={"train": {"method": "training_step", "args": (batch, 0)}}
    )
    assert "/cross_entropy" in compiled.hierarchy
    for cases, problem in (({"a": {"inputs": 3}}, "'inputs'"), ([1], "expected a map"), ({"a": 5}, "and it is 5")):
        with pytest.raises(OptionError, match=problem):
            modeldiagrams.trace(model, (x,), cases=cases)
    with pytest.raises(TargetError, match="Net has no method 'foo'"):
        modeldiagrams.trace(model, (x,), cases={"a": {"method": "foo"}})


def test_a_case_of_an_own_model_keeps_the_arguments_that_fit():
    x = torch.ones(2, 4)
    cases = {
        "masked": {"kwargs": {"mask": torch.ones(4)}},
        "by name": {"kwargs": {"x": x, "mask": torch.ones(4)}},
        "step": {"method": "training_step", "kwargs": {"batch_idx": 0, "batch": (x, x[:, 0].long())}},
        "wrong": {"method": "training_step", "kwargs": {"batch_idx": 0}, "args": (x, x)},
    }
    *complete, wrong = modeldiagrams.trace(Net(4), (x,), cases=cases).cases
    assert {case.status.state for case in complete} == {"complete"}
    assert (wrong.status.error.type, "training_step" in wrong.status.error.message) == ("TypeError", True)


@pytest.mark.parametrize(
    ("cases", "problem"),
    [
        ({"b": {"method": "nothing"}}, "case 'b': option `method`: Net has no method 'nothing'"),
        (
            {"b": {"args": torch.ones(2, 4)}},
            "case 'b': expected args as a tuple, and it is of type Tensor",
        ),
        ({1: {}}, "expected a text as the name of a case, and it is 1"),
    ],
)
def test_errors_of_an_own_model_name_the_case(cases, problem):
    with pytest.raises(ModelDiagramsError, match=problem):
        modeldiagrams.trace(Net(), (torch.ones(2, 4),), cases=cases)


class Cache:
    def length(self):
        return 3


class Cached(nn.Module):
    """Asks a cache what runs no tensors; one that is not given might be a tensor."""

    def forward(self, x, cache=None, mask=None):
        n = cache.length() if cache is not None else 0
        return x + n if mask is None else x * mask


def test_a_side_is_not_left_out_that_another_case_took_without_tensors():
    args = (torch.ones(2),)
    cases = {"without": {}, "with": {"args": args, "kwargs": {"cache": Cache()}}}
    both = modeldiagrams.trace(Cached(), args, cases=cases)
    assert [way.condition for way in both.ways] == ["mask is None"]
    only = modeldiagrams.trace(Cached(), args, cases={"without": {}, "again": {}})
    assert [side.taken for way in only.ways if "cache" in way.condition for side in way.sides] == [False]


def test_cases_of_a_name_in_python():
    drawn = modeldiagrams.diagram(f"{__name__}.Net", cases={"infer": {}, "train": {"training": True}})
    assert drawn.graph.node("/add").cases == (1,)
    assert "inputs.x" in {said.subject for said in drawn.graph.assumptions}


def test_generation_has_a_pass_for_the_prompt_and_one_with_a_cache():
    transformers = pytest.importorskip("transformers")
    sizes = {"vocab_size": 99, "num_heads": 2, "num_layers": 1, "d_model": 16, "d_kv": 8, "d_ff": 32}
    model = transformers.T5ForConditionalGeneration(transformers.T5Config(**sizes)).eval()
    graph = modeldiagrams.trace(model, (torch.ones(1, 6, dtype=torch.long),), cases="generate")
    check_graph(graph)
    assert [case.name for case in graph.cases] == ["encode", "prefill", "decode"]
    assert all(case.status.state == "complete" for case in graph.cases)
    calls = {node.path: node.cases for node in graph.module_calls()}
    assert calls["encoder.block.0"] == (0,)
    assert calls["decoder.block.0"] == (1, 2)
    assert not any(
        "decoder" in said.subject for case in graph.cases for said in (*graph.assumptions, *case.assumptions)
    )
    assert calls["decoder.block.0.layer.1.EncDecAttention.k"] == (1,)  # its keys come from the cache
    with pytest.raises(TargetError, match="Net has no method `generate`"):
        trace("Net", "generate")


def test_a_model_without_memory_for_its_weights_generates():
    pytest.importorskip("transformers")
    with torch.device("meta"):
        import transformers  # noqa: PLC0415

        config = transformers.GPT2Config(n_embd=16, n_layer=2, n_head=2, vocab_size=99)
        model = transformers.GPT2LMHeadModel(config).eval()
    graph = modeldiagrams.trace(model, (torch.ones(1, 6, dtype=torch.long),), cases="generate")
    assert [case.status.state for case in graph.cases] == ["complete", "complete"]
    assert {graph.tensors[f"{node.id}:0"].shape for node in graph.nodes if node.cases == (1,)} == {(1, 2, 6, 8)}


def test_differences_name_cases_and_what_changed_in_them():
    both = trace("Net", {"infer": {"inputs": [2, 4]}, "masked": {"inputs": {"x": [2, 4], "mask": [4]}}})
    one = trace("Net", {"infer": {"inputs": [2, 4]}})
    found = modeldiagrams.diff(one, both)
    assert ("case-added", "case masked added") in {(change.id, change.text) for change in found.changes}
    assert "case masked removed" in {change.text for change in modeldiagrams.diff(both, one).changes}
    assert modeldiagrams.diff(both, both).same
    modes = {"infer": {"inputs": [2, 4]}, "train": {"inputs": [2, 4], "training": True}}
    found = modeldiagrams.diff(trace("Net", modes), trace("Plain", modes))
    assert "only in train: op add removed at (model)" in {change.text for change in found.changes}
    sizes = [trace("Net", {"infer": {"inputs": [2, 4]}, "big": {"inputs": [rows, 4]}}) for rows in (3, 4)]
    assert "case big: example input x 3×4 → 4×4" in {change.text for change in modeldiagrams.diff(*sizes).changes}
