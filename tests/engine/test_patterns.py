from __future__ import annotations

import pytest

from graphs import small_graph
from modeldiagrams.graph import ModuleNode
from modeldiagrams.patterns import unmatched, unmatched_in

MODULES = [node for node in small_graph().nodes if isinstance(node, ModuleNode)]


@pytest.mark.parametrize("node", MODULES, ids=lambda node: node.path)
def test_a_path_a_class_and_its_full_name_match_whole_or_by_wildcards(node):
    short = node.class_.rpartition(".")[2]
    assert unmatched(small_graph(), [node.path, short, node.class_, "*", f"?{short[1:]}", f"*{short}"]) is None


def test_what_matches_nothing_is_named_with_what_was_meant():
    path = MODULES[0].path
    error = unmatched(small_graph(), [path, f"{path}x", "[a-z]*", path[:-1]])
    assert f"no module matches '{path}x', '[a-z]*', '{path[:-1]}'; did you mean '{path}'?" in str(error)
    assert "write a path" in str(unmatched(small_graph(), ["§§§"]))


def test_nothing_is_asked_of_nothing():
    assert unmatched(small_graph(), None) is None
    assert unmatched(small_graph(), []) is None


def test_the_first_option_with_an_idle_pattern_is_named():
    assert unmatched_in(small_graph(), None, None, {"*": "TB"}) is None
    assert unmatched_in(small_graph(), None, None, "LR") is None
    assert "no module matches '§'" in str(unmatched_in(small_graph(), None, None, {"§": "LR"}))
    error = unmatched_in(small_graph(), ["*"], ["§"], None)
    assert error.option == "collapse"
