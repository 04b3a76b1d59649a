from __future__ import annotations

import pytest

from graphs import small_graph
from modeldiagrams.ir.graph import ModuleNode
from modeldiagrams.options.options import View
from modeldiagrams.options.patterns import Unmatched, find_unmatched

PATH = next(node.path for node in small_graph().nodes if isinstance(node, ModuleNode))


def test_error_names_patterns_and_the_nearest_module():
    error = Unmatched(option="expand", patterns=(f"{PATH}x", "[a-z]*")).error(small_graph())
    assert error.option == "expand"
    assert f"no module matches '{PATH}x', '[a-z]*'; did you mean '{PATH}'?" in str(error)


def test_all_matches_everything():
    error = Unmatched(option="expand", patterns=("all",)).error(small_graph())
    assert "did you mean '*'" in str(error)
    assert small_graph().module_calls("*")


@pytest.mark.parametrize(("option", "patterns"), [("collapse", ("all",)), ("part", ("all",)), ("expand", ("a", "all"))])
def test_all_can_also_be_a_name(option, patterns):
    assert "'*'" not in str(Unmatched(option=option, patterns=patterns).error(small_graph()))


def test_error_explains_patterns_if_no_module_is_similar():
    assert "write a path" in str(Unmatched(option="collapse", patterns=("§§§",)).error(small_graph()))


@pytest.mark.parametrize(
    ("view", "option", "patterns"),
    [
        ({"expand": ("*",), "collapse": ("fc", "§", "x*")}, "collapse", ("§", "x*")),
        ({"expand": ("Group", "Linear"), "collapse": ("Gr?up*",)}, None, ()),
        ({"direction": {"*": "LR", "§": "TB"}}, "direction", ("§",)),
        ({"direction": {"*": "LR"}}, None, ()),
        ({"direction": "LR"}, None, ()),
    ],
)
def test_the_first_option_without_a_match_is_reported(view, option, patterns):
    found = find_unmatched(small_graph(), View(**view), ["Group"])
    assert (found.option, found.patterns) == (option, patterns) if found else option is None
