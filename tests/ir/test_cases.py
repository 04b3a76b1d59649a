"""The union of several passes: each pass is in it as it is when it is traced alone."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
import torch
from torch import Tensor, nn

from cases_by_hand.oracle import faults
from modeldiagrams.errors import GraphError
from modeldiagrams.ir.cases import unite_cases
from modeldiagrams.ir.check import check_graph
from modeldiagrams.ir.graph import Graph, ModuleNode, OpNode, Side, Way
from modeldiagrams.ir.serialize import deserialize, serialize
from modeldiagrams.ir.structure import holds_less, structural_digest
from modeldiagrams.tracer import trace

X = torch.ones(2, 4)


class EarlyExit(nn.Module):
    """So many blocks as it is asked for, a mask in between, and dropout in training."""

    def __init__(self, width: int = 4) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(nn.Sequential(nn.Linear(width, width), nn.ReLU()) for _ in range(4))
        self.scale = nn.Parameter(torch.ones(width))
        self.head = nn.Linear(width, 2)

    def forward(self, x: Tensor, depth: int = 4, mask: Tensor | None = None) -> Tensor:
        for block in self.blocks[:depth]:
            x = block(x)
            if mask is not None:
                x = x * mask + self.scale
        if self.training:
            x = nn.functional.dropout(x, 0.5) + self.scale
        return self.head(x * self.scale)  # type: ignore[no-any-return]


def rotate(x: Tensor, *, is_long: bool) -> Tensor:
    x = torch.cos(x) + torch.sin(x)
    if is_long:
        x = torch.tanh(x)
    return x.exp()


class Helpers(nn.Module):
    """Calls of helpers that are groups, constants, a module that is called several times, and several outputs."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.register_buffer("table", torch.ones(4))

    def forward(self, x: Tensor, times: int = 1, *, is_long: bool = False) -> dict[str, Tensor]:
        x = x + torch.tensor([1.0, 2.0, 3.0, 4.0])
        for _ in range(times):
            x = rotate(self.fc(x), is_long=is_long) + self.table
        halves = x.chunk(4 if is_long else 2, dim=1)
        if is_long:
            return {"all": x, "first": halves[0] + halves[3]}
        return {"first": halves[0] * 2}


def update(x: Tensor, *, is_first: bool) -> Tensor:
    if is_first:
        x = x + torch.zeros(4)
    return x.exp().sin()


class Cached(nn.Module):
    """A helper that is a group in one case; in the other it has too few ops for one."""

    def forward(self, x: Tensor, *, is_first: bool) -> Tensor:
        x = x.relu()
        x = update(x, is_first=is_first)
        return update(x * 2, is_first=True).tanh()


class Shifted(nn.Module):
    """A branch that shifts the numbers of the ops behind it: equal ids mean different lines."""

    def forward(self, x: Tensor, *, more: bool) -> Tensor:
        if more:
            x = x + 1
            x = x.relu()
        x = x + 2
        return x.relu() + 3


def passes(kind: str) -> dict[str, Graph]:
    """Cases of one model, each traced alone."""
    model: nn.Module
    if kind == "early exit":
        model = EarlyExit().eval()
        graphs = {"all": trace(model, (X,)), "short": trace(model, (X, 2))}
        graphs["masked"] = trace(model, (torch.ones(3, 4), 3), {"mask": torch.ones(4)})
        return {**graphs, "train": trace(model.train(), (X, 3))}
    if kind == "helpers":
        model = Helpers()
        return {
            name: trace(model, (X,), {"times": times, "is_long": is_long})
            for name, times, is_long in (("once", 1, False), ("long", 3, True), ("twice", 2, False))
        }
    if kind == "shifted":
        return {name: trace(Shifted(), (X,), {"more": more}) for name, more in (("less", False), ("more", True))}
    if kind == "cached":
        return {name: trace(Cached(), (X,), {"is_first": is_first}) for name, is_first in (("b", False), ("a", True))}
    assert kind == "constructors"
    return {"wide": trace(EarlyExit(4), (X,)), "narrow": trace(EarlyExit(3), (torch.ones(1, 3), 3))}


KINDS = ("early exit", "cached", "helpers", "shifted", "constructors")


def without_ways(graph: Graph) -> bytes:
    """A graph without what a case has from the union: which ways other cases reached is not told apart."""
    return serialize(msgspec.structs.replace(graph, ways=(), uncalled=()))


@pytest.mark.parametrize("kind", KINDS)
def test_each_case_is_in_the_union_as_it_is_alone_in_any_order(kind: str) -> None:
    graphs = passes(kind)
    assert not faults(graphs)
    read = deserialize(serialize(unite_cases(graphs)))
    assert all(without_ways(read.case(name)) == without_ways(alone) for name, alone in graphs.items())
    assert len(read.nodes) < sum(len(graph.nodes) for graph in graphs.values())


def test_nodes_name_their_cases_and_steps_keep_their_order() -> None:
    united = unite_cases(passes("early exit"))
    cases = {node.id: node.cases for node in united.nodes}
    assert cases["blocks.0"] == cases["head/linear"] == cases["parameter:scale"] == ()
    assert cases["blocks.2"] == (0, 2, 3)
    assert cases["blocks.3.1/relu"] == (0,)
    assert cases["input:mask"] == (2,)
    assert cases["/dropout"] == (3,)
    order = list(cases)
    assert order.index("blocks.3") < order.index("/dropout") < order.index("head")
    assert next(edge.cases for edge in united.adjacency["/dropout"]) == (3,)
    assert sum(name.startswith("parameter:scale") for name in cases) == 1


def test_a_helper_that_only_one_case_shows_is_a_group_with_the_steps_of_both() -> None:
    united = unite_cases(passes("cached"))
    call, second = united.functions.values()
    assert (call.cases, second.cases) == ((), ())
    inside = {
        node.name.rpartition(".")[2]: node.cases for node in united.nodes if getattr(node, "scope", None) == call.id
    }
    assert inside == {"zeros": (1,), "add": (1,), "exp": (), "sin": ()}
    assert [len(united.case(name).functions) for name in ("b", "a")] == [1, 2]


def test_equal_ids_of_different_lines_are_two_nodes() -> None:
    united = unite_cases(passes("shifted"))
    sources = {node.id: node.source for node in united.nodes if isinstance(node, OpNode)}
    assert len(sources) == 5
    assert {name for name, node in ((n.id, n) for n in united.nodes) if node.cases == (1,)} == {"/add~2", "/relu~2"}
    assert united.cases[1].ids == {"/add~2": "/add", "/relu~2": "/relu", "/add": "/add#2", "/relu": "/relu#2"} | {
        "/add#2": "/add#3"
    }


def test_a_layer_that_two_methods_call_is_one() -> None:
    class Two(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fc = nn.Linear(4, 4)

        def forward(self, x: Tensor) -> Tensor:
            return self.fc(x)  # type: ignore[no-any-return]

        def other(self, x: Tensor) -> Tensor:
            return self.fc(x).relu()  # type: ignore[no-any-return]

    model = Two()
    graphs = {"forward": trace(model, (X,)), "other": trace(model.other, (X,))}
    assert not faults(graphs)
    united = unite_cases(graphs)
    assert {node.id: node.cases for node in united.nodes if node.cases} == {"/relu": (1,)}
    assert united.cases[1].fields["fc/linear"]["source"] != graphs["forward"].node("fc/linear").source  # type: ignore[union-attr]


def test_values_of_the_other_cases() -> None:
    graphs = passes("early exit")
    united = unite_cases(graphs)
    assert united.tensors["head/linear:0"].shape == (2, 2)
    assert united.cases[2].tensors["head/linear:0"].shape == (3, 2)
    assert "head/linear:0" not in united.cases[1].tensors
    assert united.cases[2].fields["head/linear"]["flops"] == graphs["masked"].node("head/linear").flops  # type: ignore[union-attr]
    assert [case.model.flops for case in united.cases] == [graph.model.flops for graph in graphs.values()]
    wide = unite_cases(passes("constructors"))
    assert wide.parameters["scale"].shape == (4,)
    assert wide.cases[1].parameters["scale"].shape == (3,)  # type: ignore[union-attr]


def test_blocks_that_differ_in_one_case_do_not_fold() -> None:
    class Blocks(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a, self.b, self.c = (nn.Sequential(nn.Linear(4, 4), nn.ReLU()) for _ in range(3))

        def forward(self, x: Tensor, y: Tensor) -> Tensor:
            return self.a(x) + self.b(x) + self.c(y)  # type: ignore[no-any-return]

    model = Blocks()
    united = unite_cases({"same": trace(model, (X, X)), "other": trace(model, (X, X[:1]))})
    signatures = {node.id: node.signature for node in united.nodes if isinstance(node, ModuleNode)}
    assert signatures["a"] == signatures["b"] != signatures["c"]


def test_blocks_that_fewer_cases_run_are_equal() -> None:
    class Steps(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.blocks = nn.ModuleList(nn.Sequential(nn.Linear(4, 4), nn.ReLU()) for _ in range(3))

        def forward(self, x: Tensor, steps: int) -> Tensor:
            for block in self.blocks[:steps]:
                x = block(x)
            return x

    united = unite_cases({f"{steps}": trace(Steps(), (X, steps)) for steps in (1, 2, 3)})
    blocks = [node for node in united.nodes if isinstance(node, ModuleNode) and node.id.count(".") == 1]
    assert [node.cases for node in blocks] == [(), (1, 2), (2,)]
    assert len({node.signature for node in blocks}) == 1


def test_a_failed_case_adds_nothing_but_its_error() -> None:
    model = EarlyExit()
    good, bad = trace(model, (X,)), trace(model, (torch.ones(2, 5),))
    united = unite_cases({"good": good, "bad": bad}, {"bad": "inputs: [2, 5]"})
    check_graph(united)
    assert serialize(united.case("good")) == serialize(good)
    assert [node.id for node in united.nodes] == [node.id for node in good.nodes]
    assert united.cases[1].text == "inputs: [2, 5]"
    assert united.cases[1].status.error is not None
    assert "mat1 and mat2" in united.cases[1].status.error.message
    with pytest.raises(GraphError, match=r"'bad' failed: .*mat1 and mat2"):
        united.case("bad")
    with pytest.raises(GraphError, match=r"no case is called 'none'; the graph has the cases 'good', 'bad'"):
        united.case("none")
    whole = unite_cases({"good": good, "bad": good})
    assert holds_less(united, whole)
    assert not holds_less(whole, united)
    assert not holds_less(unite_cases({"good": good}), whole), "an author took a case out"
    nothing = unite_cases({"bad": bad})
    check_graph(nothing)
    assert [node.id for node in nothing.nodes] == [node.id for node in bad.nodes]


def test_modes_that_differ_are_noted() -> None:
    model = EarlyExit()
    united = unite_cases({"a": trace(model, (X,), mode="fake"), "b": trace(model, (X,), mode="real")})
    assert united.status.notes == ("b ran with real values and a without, so branches may differ for that reason",)
    assert [case.status.mode for case in united.cases] == ["fake", "real"]


def test_ways_are_united_by_place() -> None:
    def way(line: int, *taken: bool) -> Way:
        sides = tuple(Side(name=name, line=line + 1, taken=t) for name, t in zip(("yes", "no"), taken, strict=True))
        return Way(source=f"m.py:{line}", statement="if", condition="c", waits_for="mode", function="f", sides=sides)

    alone = trace(EarlyExit(), (X,))
    a = msgspec.structs.replace(alone, ways=(way(9, True, False), way(20, True, False)))
    b = msgspec.structs.replace(alone, ways=(way(9, False, True), way(10, False, False), way(20, True, False)))
    united = unite_cases({"a": a, "b": b})
    assert [(w.source, [(s.taken, s.cases) for s in w.sides]) for w in united.ways] == [
        ("m.py:9", [(True, (0,)), (True, (1,))]),
        ("m.py:10", [(False, ()), (False, ())]),
        ("m.py:20", [(True, ()), (False, ())]),
    ]
    assert [s.taken for s in united.case("a").ways[0].sides] == [True, False]
    no = b.ways[0].sides[1:]
    unsure = msgspec.structs.replace(b.ways[0], waits_for="other", classes=("m.B",), sides=no)
    pair = {"a": a, "b": msgspec.structs.replace(b, ways=(unsure, msgspec.structs.replace(unsure, condition="b")))}
    orders = [unite_cases({name: pair[name] for name in names}).ways for names in ("ab", "ba")]
    content = [[(w.condition, w.waits_for, w.classes, [s.name for s in w.sides]) for w in ways] for ways in orders]
    assert content[0] == content[1]


def test_the_digest_tells_cases_apart() -> None:
    graphs = passes("shifted")
    united = unite_cases(graphs)
    assert structural_digest(united) == structural_digest(unite_cases(graphs))
    others = [
        unite_cases({"less": graphs["less"]}),
        unite_cases({"less": graphs["less"], "renamed": graphs["more"]}),
        unite_cases({"less": graphs["less"], "more": trace(Shifted(), (X[:1],), {"more": True})}),
    ]
    assert len({structural_digest(graph) for graph in (united, *others)}) == 4


@pytest.mark.parametrize(
    ("change", "path", "problem"),
    [
        ({"name": "less"}, "$.cases[1].name", "a second time"),
        ({"ids": {"/none": "/add"}}, "$.cases[1].ids['/none']", "no such node or function call"),
        ({"fields": {"/none": {}}}, "$.cases[1].fields['/none']", "no such node or function call"),
        ({"tensors": {"/none:0": None}}, "$.cases[1].tensors['/none:0']", "no such tensor"),
        ({"parameters": {"w": None}}, "$.cases[1].parameters['w']", "no such parameter"),
    ],
)
def test_checks_of_cases(change: dict[str, Any], path: str, problem: str) -> None:
    united = unite_cases(passes("shifted"))
    cases = (united.cases[0], msgspec.structs.replace(united.cases[1], **change))
    with pytest.raises(GraphError, match=problem) as caught:
        check_graph(msgspec.structs.replace(united, cases=cases))
    assert caught.value.path == path


def test_checks_of_numbers() -> None:
    united = unite_cases(passes("shifted"))
    outside = tuple(msgspec.structs.replace(node, cases=(2,)) if node.id == "/add" else node for node in united.nodes)
    with pytest.raises(GraphError, match="expected the index of a complete case, got 2"):
        check_graph(msgspec.structs.replace(united, nodes=outside))
    edges = {
        source: tuple(msgspec.structs.replace(edge, cases=()) for edge in found)
        for source, found in united.adjacency.items()
    }
    with pytest.raises(GraphError, match=r"expected cases of '/add~2', \[1\], got \[\]"):
        check_graph(msgspec.structs.replace(united, adjacency=edges))
