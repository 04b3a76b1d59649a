"""The field `:model-graph:` of docstrings."""

from __future__ import annotations

import pytest

from modeldiagrams.options.docstring_field import split_field


@pytest.mark.parametrize("text", ["A net.\n:model-graph:`pkg.Net`, see there.", "No field."])
def test_role_is_not_a_field(text):
    assert split_field(text) == (None, text)


@pytest.mark.parametrize(
    ("field", "found"),
    [(":model-graph:", ""), (":model-graph: false", "false"), (":model-graph: {a: 1,\n  b: 2}", "{a: 1, b: 2}")],
)
def test_field_is_removed_from_the_docstring(field, found):
    assert split_field(f"A net.\n\n{field}\n")[0] == found
