from __future__ import annotations

import msgspec
import pytest

from graphs import sized_graph, small_graph
from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.ir.expressions import parse_expression
from modeldiagrams.ir.graph import NamedSizes, ParameterSpec, Size
from modeldiagrams.ir.growth import degrees_of, say_expression, say_growth
from modeldiagrams.ir.parameter_memory import measure_parameters
from modeldiagrams.ir.size_costs import SizeCosts, costs_at


def sums(graph, item=None, **sizes):
    costs = costs_at(graph, sizes)[item]
    return tuple(f"{cost.sign}{cost.amount}" for cost in costs)


def test_costs_of_modules_and_the_model_are_sums_of_those_of_ops():
    graph = sized_graph()
    assert [sums(graph, item, B=5) for item in (None, "fc", "fc/linear", "/relu")] == [
        ("80", "80"),
        ("80", "40"),
        ("80", "40"),
        ("None", "40"),
    ]


def test_a_graph_without_names_has_its_own_costs_alone():
    graph = msgspec.structs.replace(sized_graph(), sizes=None)
    assert sums(graph) == ("16", "16")
    with pytest.raises(
        ModelDiagramsError, match="no size is called B, because Net has no sizes with names: it was traced without"
    ):
        costs_at(graph, {"B": 2})


def test_what_has_no_expression_makes_sums_at_least():
    graph = sized_graph(activation_bytes={"fc/linear": "8*B"}, unknown={"/relu:0": "no simple expression"})
    assert sums(graph, B=5) == ("80", "≥40")
    assert sums(graph, "fc", B=5) == ("80", "40")
    assert sums(graph) == ("16", "16")  # at its own sizes all is known


def test_sizes_that_values_decide_are_the_largest_unless_someone_sets_them():
    sizes = {"B": Size(size=1), "n₁": Size(size=1, counted="/relu", bound="B")}
    graph = sized_graph(sizes=sizes, flops={"fc/linear": "16*n₁"})
    assert sums(graph, B=5) == ("≤80", "80")
    assert sums(graph, B=5, n1=3) == ("48", "80")
    with pytest.raises(ModelDiagramsError, match="n₁ = 6: expected at most B = 5"):
        costs_at(graph, {"B": 5, "n1": 6})
    sizes["n₁"] = Size(size=1, counted="/relu", bound="(B+1)/2")
    assert sums(sized_graph(sizes=sizes, flops={"fc/linear": "16*n₁"}), B=4)[0] == "≤32"


def test_an_op_of_a_loop_stands_for_its_calls_at_other_sizes():
    graph = sized_graph(sizes={"B": Size(size=1), "T": Size(size=2)}, times={"fc": "T", "/relu": "2*T"})
    assert sums(graph, B=5, T=8) == ("320", str(40 * 4 + 40 * 4))
    assert sums(graph, "fc", B=5, T=8) == ("80", "40")  # of one call
    assert str(SizeCosts(graph).calls("fc")) == "T/2"


@pytest.mark.parametrize(
    ("size", "given", "message"),
    [
        ({}, {"T": 2}, "no size is called T; there are B"),
        ({"fixed": "the graph changes"}, {"B": 2}, "B = 2: it is always 1: the graph changes"),
        ({"at_most": 4, "limit": "pos"}, {"B": 5}, r"B = 5: the model takes at most 4 \(pos\)"),
        ({}, {"B": 0}, "B = 0: expected at least 1, the smallest that was tried"),
        ({"size": 224, "multiple_of": 32}, {"B": 225}, "B = 225: .* multiples of 32; the nearest are 224 and 256"),
        ({"size": 5, "multiple_of": 4, "remainder": 1, "at_least": 5}, {"B": 6}, "4 plus 1; the nearest are 5 and 9"),
        ({"size": 8, "multiple_of": 8, "at_least": 8, "at_most": 20}, {"B": 17}, "of 8; the nearest is 16"),
    ],
)
def test_sizes_that_have_no_costs_say_why(size, given, message):
    graph = msgspec.structs.replace(sized_graph(), sizes=NamedSizes(sizes={"B": Size(**{"size": 1, **size})}))
    with pytest.raises(ModelDiagramsError, match=message):
        costs_at(graph, given)


def test_growth_is_the_highest_power_of_each_size():
    expression = parse_expression("4*B*T*T+6*B*ceil(H*T/32)*768+9")
    assert degrees_of(expression) == {"B": 1, "T": 2, "H": 1}
    assert say_growth(expression, ["B", "H", "T"]) == "B, H and T²"
    assert not say_growth(parse_expression("7"), [])
    long = parse_expression("+".join(f"{i}*B*T*{name}" for i, name in enumerate("CDEFGHIJKLM", 1001)))
    assert say_expression(long, []).endswith("+…")
    assert len(say_expression(long, [])) <= 60


def test_memory_of_parameters():
    tied = {"shape": (2, 4), "dtype": "bfloat16", "owner": "a"}
    parameters = {
        "a.w": ParameterSpec(**tied, tied=("b.w",)),
        "b.w": ParameterSpec(**tied, tied=("a.w",)),
        "c": ParameterSpec(shape=(3,), dtype="float32", owner="", trainable=False),
        "mean": ParameterSpec(shape=(100,), dtype="float32", owner="", kind="buffer", trainable=False),
    }
    graph = msgspec.structs.replace(small_graph(), parameters=parameters)
    assert [measure_parameters(graph, name) for name in ("adam", "sgd", "none")] == [
        (28, 16, 32),
        (28, 16, 16),
        (28, 16, 0),
    ]
