"""Numbers of nodes: what is read from where, which nodes get which, and what is said of the others."""

# ruff: noqa: PD011  (these are no tables)
from __future__ import annotations

import json
import math
import re
import time

import numpy as np
import pandas as pd
import pytest
import torch

from graphs import nested_graph, small_graph, with_repeats
from modeldiagrams import OptionError, Overlay, to_html, to_svg, trace
from modeldiagrams.common.globs import compile_globs
from modeldiagrams.ir.graph import ModuleNode
from modeldiagrams.overlay.annotate import resolve
from modeldiagrams.overlay.number_files import read_numbers
from modeldiagrams.overlay.numbers import GivenNumbers, NumberMatcher, Numbers

TWO = {"encoder": 0.5, "head": 2.0}


def numbers_of(graph, values) -> Numbers:
    (found,) = resolve(graph, {"values": read_numbers(values)})[0].numbers
    return found


def problem(tmp_path, source, content=None) -> str:
    if content is not None:
        (tmp_path / source).write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(OptionError) as caught:
        read_numbers(source, tmp_path)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# -- reading ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "source",
    [
        TWO,
        {"name": "Values", "values": TWO},
        {"encoder": "0.5", "head": "2e0"},
        {"encoder": torch.tensor(0.5), "head": np.float32(2)},
        pd.Series(TWO),
        pd.DataFrame({"Values": TWO}),
        pd.DataFrame({"module": [*TWO], "Values": [*TWO.values()]}),
        "values.json",
        "values.csv",
    ],
    ids=lambda source: type(source).__name__,
)
def test_all_forms_say_the_same(source, tmp_path) -> None:
    (tmp_path / "values.json").write_text(json.dumps({"name": "Values", "values": TWO}))
    (tmp_path / "values.csv").write_text("\ufeffmodule,Values\r\nencoder,0.5\r\n\r\nhead, 2\r\n", "utf-8")
    assert read_numbers(source, tmp_path) == [GivenNumbers(name="Values", values=TWO)]


def test_several_columns_and_lists_are_several_lenses(tmp_path) -> None:
    table = pd.DataFrame({"time (ms)": [1, 2], "calls": [3, None]}, index=["a", "b"])
    table.to_csv(tmp_path / "times.csv", index_label="module")
    expected = [
        GivenNumbers(name="time", unit="ms", values={"a": 1.0, "b": 2.0}),
        GivenNumbers(name="calls", values={"a": 3.0, "b": None}),
    ]
    assert read_numbers(table) == expected
    from_file = read_numbers("times.csv", tmp_path)
    assert [one.name for one in from_file] == ["time", "calls"]
    assert from_file[1].values == {"a": 3.0}  # an empty cell is no number at all
    described = {"name": "Error", "unit": "dB", "format": "+.2f", "scale": "log", "values": TWO}
    (tmp_path / "several.json").write_text(json.dumps([described, TWO]))
    first, second = read_numbers([tmp_path / "several.json"])
    assert (first.name, first.unit, first.format, first.scale) == ("Error", "dB", "+.2f", "log")
    assert (second.name, second.values) == ("several", TWO)


def test_columns_may_share_a_name() -> None:
    table = pd.DataFrame([["a", 1, 2], ["b", 3, 4]], columns=["time", "time", "time"])
    assert [one.values for one in read_numbers(table)] == [{"a": 1.0, "b": 3.0}, {"a": 2.0, "b": 4.0}]


def test_a_node_may_be_called_values() -> None:
    assert read_numbers({"values": 3})[0].values == {"values": 3.0}


@pytest.mark.parametrize("value", [None, math.nan, math.inf, -math.inf, "nan", pd.NA, np.float64("nan")], ids=repr)
def test_what_is_not_finite_is_missing_and_counted(value) -> None:
    found = numbers_of(small_graph(), {"fc": value, "relu": 1})
    assert (found.values, found.missing) == ({"/relu": 1.0}, 1)


def test_python_writes_nan_to_json(tmp_path) -> None:
    (tmp_path / "a.json").write_text(json.dumps({"fc": math.nan, "relu": math.inf}))
    assert read_numbers("a.json", tmp_path)[0].values == {"fc": None, "relu": None}


@pytest.mark.parametrize(
    ("source", "content", "message"),
    [
        ({"a": "high"}, None, "'a': expected a number, got 'high'"),
        ({"a": [1, 2]}, None, "'a': expected a number, got [1, 2]"),
        ({"a": True}, None, "'a': expected a number, got True"),
        ({"a": torch.ones(2)}, None, "'a': expected a number, got tensor([1., 1.])"),
        ({"a": 10**400}, None, "'a': expected a number, got 1000"),
        ({}, None, "expected numbers, got none"),
        (3, None, "expected a map from patterns to numbers"),
        ({"scale": "root", "values": TWO}, None, "scale: expected linear, log or diverging, got 'root'"),
        ({"format": "%.2f", "values": TWO}, None, "format: expected a format like `.2f`"),
        ({"name": "", "values": TWO}, None, "name: expected a text that is not empty"),
        ({"units": "ms", "values": TWO}, None, "unknown key 'units'; expected name, unit, format, scale and values"),
        (pd.DataFrame({"a": ["x"], "b": ["y"]}), None, "column 'b': 'x': expected a number, got 'y'"),
        ("a.txt", "", "expected the path of a .json or .csv file, or a map from patterns to numbers, got 'a.txt'"),
        ("gone.json", None, "gone.json: No such file or directory"),
        ("a.json", '{"a": 1,\n "b" 2}', "a.json: expected JSON: Expecting ':' delimiter: line 2 column 6"),
        ("a.json", b"\xff\xfe", "a.json: expected UTF-8 text"),
        ("a.json", "[]", "a.json: expected numbers, got an empty list"),
        ("a.json", '[{"a": 1}, {"a": {}}]', "a.json: list 2: 'a': expected a number, got {}"),
        ("a.json", "[" * 100_000, "a.json: expected JSON"),
        (pd.DataFrame(), None, "expected numbers, got none"),
        ("a.csv", "", "a.csv: line 1: expected a header line"),
        ("a.csv", "module;x\na;1", "a.csv: line 1: expected a header line"),
        ("a.csv", "\nhead,1,,\nenc.0,2,3,4", "a.csv: line 2: expected a header line"),
        ("a.csv", "module,x\na,1\nb,2,3", "a.csv: line 3: expected 2 cells, got 3"),
        ("a.csv", "module,x\na,1\n\nb,two", "a.csv: column 'x': line 4: expected a number, got 'two'"),
        ("a.csv", 'module,x\n"a,1', "a.csv: line 2: expected CSV: unexpected end of data"),
        ("a.csv", "module,x\n", "a.csv: column 'x': expected numbers, got none"),
    ],
)
def test_bad_input_is_one_sentence_with_a_place(source, content, message, tmp_path) -> None:
    assert message in problem(tmp_path, source, content)


# -- matching ---------------------------------------------------------------------------------------------------------

GRAPHS = {"small": small_graph(), "nested": nested_graph(3, 2), "repeats": with_repeats()}


@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
def test_one_pattern_matches_what_the_graph_says(graph) -> None:
    names = {*graph.call_names, *graph.by_id, *(name for names in graph.other_names.values() for name in names)}
    patterns = [*names, *(f"*{name[1:]}" for name in names), *(f"{name[:-1]}?" for name in names), "*", "gone"]
    matcher = NumberMatcher(graph, {})
    for pattern in patterns:
        found = matcher.match(GivenNumbers(name="n", values={pattern: 1.0}))
        assert {*found.values} == {*graph.matching(pattern)}, pattern
        assert bool(found.unmatched) == (not graph.matching(pattern))


def test_the_most_exact_entry_counts_and_then_the_last() -> None:
    graph = with_repeats()
    module = next(node for node in graph.nodes if isinstance(node, ModuleNode))
    by_rank = ["*", module.class_.rpartition(".")[2], module.path]
    for known in (by_rank, by_rank[::-1]):
        values = {pattern: float(by_rank.index(pattern)) for pattern in known}
        assert numbers_of(graph, values).values[module.id] == 2
    assert numbers_of(graph, {"*": 1, f"*{module.path[1:]}": 2}).values[module.id] == 2
    assert numbers_of(graph, {f"*{module.path[1:]}": 2, "*": 1}).values[module.id] == 1
    # a more exact entry without a number hides the others
    assert module.id not in numbers_of(graph, {"*": 1, module.path: math.nan}).values


def test_commas_separate_patterns_and_groups_have_names() -> None:
    said = {"group": {"Both": ["fc", "relu"]}, "values": read_numbers({"x, relu": 1, "Both": 2, "": 3})}
    overlay, problems = resolve(small_graph(), said)
    assert problems == []
    assert overlay.numbers[0].values == {"input:x": 1.0, "/relu": 1.0, overlay.groups[0].id: 2.0}


def test_nodes_and_names_are_counted() -> None:
    graph = nested_graph(3, 2)
    modules = [node for node in graph.nodes if isinstance(node, ModuleNode)]
    inner = max(modules, key=lambda node: node.path.count("."))
    found = numbers_of(graph, {inner.path: 1, "gone": 2, "lost": 3})
    around = [node.id for node in graph.ancestors(inner)]
    assert (found.named, found.unnamed) == (1 + len(around), len(modules) - 1 - len(around))
    assert (found.unmatched, found.unmatched_count) == (("gone", "lost"), 2)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"Linaer": 1}, "Values: no node is named 'Linaer'; did you mean 'Linear'?"),
        (dict.fromkeys("abcde", 1), "Values: 5 numbers name no node: 'a', 'b', 'c' and 2 more; "),
    ],
)
def test_numbers_without_a_node_are_one_problem(values, message) -> None:
    _, (error,) = resolve(small_graph(), {"values": read_numbers(values)})
    assert message in str(error)
    with pytest.warns(UserWarning, match=re.escape(message)):
        to_svg(small_graph(), values={**values, "fc": 1})


def test_100_000_numbers_take_seconds() -> None:
    start = time.process_time()
    found = numbers_of(small_graph(), {f"gone.{i}": i for i in range(100_000)} | {"fc": 1})
    assert time.process_time() - start < 10
    assert (found.values, found.unmatched_count) == ({"fc": 1.0}, 100_000)
    assert len(found.unmatched) <= 20


def test_100_000_patterns_match_what_single_ones_do() -> None:
    graph = nested_graph(7, 100)
    assert len(graph.nodes) > 900
    paths = [node.path for node in graph.nodes if isinstance(node, ModuleNode)]
    ends = ["*.{1}*{2}", "{0}?{2}*", "{0}*" + "*" * 9, "*{2}*.{1}", "g?ne.{2}.*"]
    patterns = [ends[i % 5].format(*paths[i % len(paths)].partition(".")[::2], i) for i in range(100_000)]
    known = {node.id: (node.id, "Block", node.class_) for node in graph.nodes if isinstance(node, ModuleNode)}
    others = graph.other_names
    sample = [
        *dict.fromkeys(patterns[::97]),
        "*",
        "?" * 4,
        "*\n*",
        "*lock",
        "m1.*",
        "*/a*",
        "**.1?",
        "input:?",
        "nested*",
    ]
    for pattern in sample:
        matches = compile_globs([pattern])
        found = [[name for name, names in kind.items() if any(map(matches, names))] for kind in (known, others)]
        assert [*graph.matching(pattern)] == (found[0] or found[1]), pattern
    given = GivenNumbers(name="n", values=dict.fromkeys(patterns, 1.0))
    found = NumberMatcher(graph, {}).match(given)
    expected = {name for pattern in given.values for name in graph.matching(pattern)}
    assert {*found.values} == expected


# -- overlays and pictures --------------------------------------------------------------------------------------------


def test_overlays_keep_numbers(tmp_path) -> None:
    overlay, _ = resolve(small_graph(), {"values": read_numbers([{"fc": 1}, {"name": "b", "values": {"relu": 2}}])})
    overlay.save(tmp_path / "o.json")
    assert Overlay.load(tmp_path / "o.json") == overlay
    assert [one.name for one in (overlay | overlay).numbers] == ["Values", "b", "Values", "b"]
    assert overlay.gone(nested_graph(3, 2)) != ()


def test_pictures_show_the_first_numbers() -> None:
    values = [{"name": "Gain", "unit": "dB", "format": "+.1f", "scale": "diverging", "values": {"fc": -3, "relu": 1.5}}]
    svg = to_svg(small_graph(), values=values)
    box = re.search(r'<g class="[^"]*mg-below-4[^"]*" data-id="fc".*?</g>', svg, re.DOTALL)
    assert box
    assert ">-3.0 dB<" in box[0]
    bar = re.search(r'class="mg-bar" x="([\d.]+)"[^>]*width="([\d.]+)"', box[0])
    track = re.search(r'class="mg-track" x="([\d.]+)"[^>]*width="([\d.]+)"', box[0])
    assert bar
    assert track
    assert float(bar[1]) == float(track[1])
    assert float(bar[2]) == pytest.approx(float(track[2]) / 2, abs=0.1)
    assert "Gain (dB): &lt; -1.8" in svg
    assert "1 of 1 nodes" not in svg  # ops have numbers, so they count
    assert "2 of 3 nodes have a number." in re.sub(r"<[^>]+>", " ", svg).replace("  ", " ")
    assert "mg-amount-" not in to_svg(small_graph()).partition("</style>")[2]
    assert 'numbers="[&#34;Gain&#34;]"' in to_html(small_graph(), values=values)


def test_modules_that_only_hold_others_are_ignored() -> None:
    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.blocks = torch.nn.ModuleList(torch.nn.ModuleDict({"up": torch.nn.Linear(4, 4)}) for _ in range(2))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.blocks[1]["up"](self.blocks[0]["up"](x))

    net = Net()
    found = numbers_of(trace(net, (torch.ones(1, 4),)), {name: 1 for name, _ in net.named_modules()} | {"blocks.2": 1})
    assert found.unmatched == ("blocks.2",)
    assert found.named == 2
