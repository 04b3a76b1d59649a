"""Patterns of an author → what is said of which nodes."""

from __future__ import annotations

import msgspec
import pytest

from graphs import nested_graph, small_graph, with_repeats
from modeldiagrams import OptionError, annotate
from modeldiagrams.ir.graph import Graph, ModuleNode, ParameterCount
from modeldiagrams.overlay.annotate import resolve
from modeldiagrams.overlay.overlay import Node, Note


def test_patterns_find_modules_ops_and_inputs() -> None:
    overlay, problems = resolve(
        small_graph(),
        {"rename": {"Linear": "Projection"}, "hide": ["relu"], "highlight": ["x", "fc"], "kind": {"fc": "attention"}},
    )
    assert problems == []
    assert overlay.nodes == {
        "/relu": Node(hide=True),
        "input:x": Node(highlight=True),
        "fc": Node(rename="Projection", highlight=True, kind="attention"),
    }


def test_notes_keep_their_order_and_text() -> None:
    notes = {"fc": "One *note*.", "relu, x": "Another."}
    overlay, _ = resolve(small_graph(), {"notes": notes})
    assert overlay.notes == (
        Note(text="One *note*.", nodes=("fc",)),
        Note(text="Another.", nodes=("/relu", "input:x")),
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"hide": ["rleu"]}, r"option `hide`: nothing matches 'rleu'; did you mean 'relu'\?"),
        ({"notes": {"Linaer": "text"}}, r"option `notes`: nothing matches 'Linaer'; did you mean 'Linear'\?"),
        ({"kind": {"qqqqqq": "linear"}}, r"option `kind`: nothing matches 'qqqqqq'; write a path"),
        ({"group": {"All": ["fc"]}}, r"option `group`: 'All': expected two or more siblings"),
        ({"group": {"All": ["fc", "lalala"]}}, r"option `group`: nothing matches 'lalala'"),
        ({"order": {"Net": ["relu", "linear"]}}, r"option `order`: nothing directly in Net matches 'linear'"),
    ],
)
def test_patterns_without_match_suggest_the_nearest_name(options, message) -> None:
    overlay, problems = resolve(small_graph(), options)
    with pytest.raises(OptionError, match=message):
        raise problems[0]
    assert overlay.graph


def test_a_note_on_nothing_is_kept() -> None:
    overlay, problems = resolve(small_graph(), {"notes": {"gone": "Still of use."}})
    assert overlay.notes == (Note(text="Still of use."),)
    assert len(problems) == 1


def test_the_class_of_the_model_matches_the_model() -> None:
    overlay, problems = resolve(
        small_graph(),
        {"arrange": {"Net": "row"}, "align_items": {"Net": "end"}, "order": {"mypkg.Net": ["relu", "fc"]}},
    )
    assert problems == []
    assert overlay.nodes == {"": Node(arrange="row", align_items="end", order=("/relu", "fc"))}


def test_siblings_are_a_group_in_each_container() -> None:
    overlay, problems = resolve(with_repeats(), {"group": {"Feed & forward": ["*.fc1", "*.fc2"]}})
    assert problems == []
    assert [(group.id, group.name, group.nodes) for group in overlay.groups] == [
        (f"blocks.{i}/Feed_forward[]", "Feed & forward", (f"blocks.{i}.fc1", f"blocks.{i}.fc2")) for i in range(2)
    ]


def test_groups_contain_groups() -> None:
    wanted = {"Outer": ["Inner", "*.fc3"], "Inner": ["*.fc1", "*.fc2"]}
    overlay, problems = resolve(with_repeats(), {"group": wanted})
    assert problems == []
    assert [(group.id, group.nodes) for group in overlay.groups[:1] + overlay.groups[2:3]] == [
        ("blocks.0/Inner[]", ("blocks.0.fc1", "blocks.0.fc2")),
        ("blocks.0/Outer[]", ("blocks.0/Inner[]", "blocks.0.fc3")),
    ]


def test_a_group_that_a_path_leaves_and_enters_again_is_refused() -> None:
    overlay, problems = resolve(weighted(with_repeats()), {"group": {"Ends": ["*.fc1", "*.fc3"]}})
    assert overlay.groups == ()
    message = "'Ends': blocks.0.fc1 can't be grouped with the others in blocks.0, because blocks.0.fc2 is between them;"
    with pytest.raises(OptionError, match=message):
        raise problems[0]


def test_layers_without_weights_between_members_join_a_group() -> None:
    overlay, problems = resolve(with_repeats(), {"group": {"All": ["*.fc1", "*.fc3"]}})
    assert problems == []
    assert overlay.groups[0].nodes == ("blocks.0.fc1", "blocks.0.fc2", "blocks.0.fc3")


def weighted(graph: Graph) -> Graph:
    """The same with weights in every module."""
    count = ParameterCount(own=1, total=1, trainable=1)
    nodes = (
        msgspec.structs.replace(node, parameters=count) if isinstance(node, ModuleNode) else node
        for node in graph.nodes
    )
    return msgspec.structs.replace(graph, nodes=tuple(nodes))


def test_separate_runs_of_one_name_are_separate_groups() -> None:
    graph = weighted(nested_graph(deep=1, wide=6))
    overlay, problems = resolve(graph, {"group": {"Pair": ["b0", "b1", "b3", "b4"]}})
    assert problems == []
    assert [(group.id, group.nodes) for group in overlay.groups] == [
        ("/Pair[]", ("b0", "b1")),
        ("/Pair[]#2", ("b3", "b4")),
    ]


def test_overlapping_groups_are_refused() -> None:
    overlay, problems = resolve(with_repeats(), {"group": {"A": ["*.fc1", "*.fc2"], "B": ["*.fc2", "*.fc3"]}})
    assert {group.name for group in overlay.groups} == {"A"}
    with pytest.raises(
        OptionError, match=r"option `group`: 'B': blocks.0.fc2 is in group 'A' already; .* \(and 1 more"
    ):
        raise problems[0]


@pytest.mark.parametrize("names", [("All", "Some"), ("Some", "All")])
def test_a_group_entirely_inside_another_becomes_part_of_it(names) -> None:
    members = {"All": ["b0", "b1", "b2"], "Some": ["b0", "b1"]}
    overlay, problems = resolve(nested_graph(deep=1, wide=4), {"group": {name: members[name] for name in names}})
    assert problems == []
    assert [group.nodes for group in overlay.groups] == [("b0", "b1"), ("/Some[]", "b2")]


def test_groups_have_a_place_in_the_order_of_their_container() -> None:
    graph = nested_graph(deep=1, wide=4)
    overlay, problems = resolve(graph, {"group": {"Front": ["b0", "b1"]}, "order": {"Nested": ["b3", "Front"]}})
    assert problems == []
    assert overlay.nodes[""].order == ("b3", "/Front[]")


def test_extra_commas_are_ignored() -> None:
    overlay, problems = resolve(small_graph(), {"fade": ["fc, , ", "x,"]})
    assert problems == []
    assert [*overlay.nodes] == ["fc", "input:x"]
    _, problems = resolve(small_graph(), {"fade": [","]})
    assert len(problems) == 1


def test_a_name_may_have_commas() -> None:
    wanted = {"group": {"Add, then norm": ["*.fc1", "*.fc2"]}, "fade": ["Add, then norm"]}
    overlay, problems = resolve(with_repeats(), wanted)
    assert problems == []
    assert all(said.fade for said in overlay.nodes.values())
    assert len(overlay.nodes) == 2


def test_groups_are_found_by_their_names() -> None:
    overlay, problems = resolve(with_repeats(), {"group": {"FF": ["*.fc1", "*.fc2"]}, "fade": ["FF"]})
    assert problems == []
    assert overlay.nodes == {"blocks.0/FF[]": Node(fade=True), "blocks.1/FF[]": Node(fade=True)}


def test_overlays_of_annotate_can_be_merged() -> None:
    graph = small_graph()
    both = annotate(graph, "fc", text="A layer.", rename="Layer") | annotate(graph, "fc, relu", fade=True)
    assert both.nodes == {"fc": Node(rename="Layer", fade=True), "/relu": Node(fade=True)}
    assert both.notes == (Note(text="A layer.", nodes=("fc",)),)


def test_annotate_refuses_unknown_options() -> None:
    with pytest.raises(OptionError, match=r"option `colour`: unknown here; expected text, image, alt, group, rename"):
        annotate(small_graph(), "fc", colour="red")
    with pytest.raises(OptionError, match=r"nothing matches 'fcc'; did you mean 'fc'"):
        annotate(small_graph(), "fcc", fade=True)


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"kind": "bogus"}, "option `kind`: expected embedding, .*, other, got 'bogus'"),
        ({"arrange": "circle"}, "option `arrange`: expected row, column, grid, got 'circle'"),
        ({"align_items": "left"}, "option `align_items`: expected start, center, end, got 'left'"),
        ({"rename": 3}, "option `rename`: expected a name, got 3"),
        ({"rename": ""}, "option `rename`: expected a name, got ''"),
        ({"order": "relu"}, "option `order`: expected a list of patterns, got 'relu'"),
        ({"hide": "yes"}, "option `hide`: expected True or False, got 'yes'"),
    ],
)
def test_annotate_refuses_invalid_values(said, message) -> None:
    with pytest.raises(OptionError, match=message):
        annotate(small_graph(), "fc", **said)


def test_annotate_checks_its_pattern_without_options() -> None:
    assert annotate(small_graph(), "fc", highlight=False).nodes == {}
    with pytest.raises(OptionError, match=r"option `pattern`: nothing matches 'fcc'"):
        annotate(small_graph(), "fcc", highlight=False)


@pytest.mark.parametrize("pattern", ["torch", "f"])
def test_a_prefix_of_a_name_is_not_taken_for_a_module_list(pattern) -> None:
    with pytest.raises(OptionError) as caught:
        annotate(small_graph(), pattern, arrange="row")
    assert "not called" not in str(caught.value)


def test_a_module_list_can_not_be_arranged() -> None:
    """A `ModuleList` is not called: what can be arranged is the module around it."""
    with pytest.raises(
        OptionError, match=r"nothing matches 'blocks'; it contains modules .* the module around it: '\w+'"
    ):
        annotate(with_repeats(), "blocks", arrange="row")
