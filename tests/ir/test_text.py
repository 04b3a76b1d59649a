from __future__ import annotations

import msgspec

from graphs import small_graph
from modeldiagrams.ir.graph import Status
from modeldiagrams.ir.serialize import deserialize, serialize
from modeldiagrams.ir.text import escape_surrogates, readable


def test_unreadable_characters_are_written_as_python_does():
    assert readable("\x1b[1mbold\x1b[0m\tand\n\x00\x7f\u2066\udc80é漢") == "bold\tand\n\\x00\\x7f\\u2066\\udc80é漢"


def test_lone_surrogates_are_escaped_anywhere_in_plain_data():
    assert escape_surrogates({"\udcff": ["a\udc80", ("b",), 3, None, b"\xff"]}) == {
        "\\udcff": ["a\\udc80", ["b"], 3, None, b"\xff"]
    }


def test_graph_with_lone_surrogates_is_written_like_any_other():
    graph = msgspec.structs.replace(small_graph(), status=Status(state="complete", mode="fake", notes=("\udcff",)))
    plain = msgspec.structs.replace(graph, status=Status(state="complete", mode="fake", notes=("\\udcff",)))
    assert serialize(graph) == serialize(plain)
    assert deserialize(serialize(graph)) == plain


def test_printed_graph_commands_no_terminal_and_reads_the_same():
    note = "\x1b[31m \x9b31m \x7f \u202e é漢 \\u202e"
    graph = msgspec.structs.replace(small_graph(), status=Status(state="complete", mode="fake", notes=(note,)))
    for indent in (0, 1):
        data = serialize(graph, indent=indent)
        assert readable(data.decode()) == data.decode()
        assert "é漢" in data.decode()
        assert deserialize(data) == graph
