"""Anchors of diagrams that `singlehtml` joins into one page."""

from sphinx_modeldiagrams.joined import find_free_anchor


def test_documents_with_similar_names_have_different_anchors():
    taken = {"Net": None}
    for document in ("a/b", "a-b", "a b"):
        taken[find_free_anchor("Net", document, taken)] = None
    assert [*taken] == ["Net", "Net-in-a-b", "Net-in-a-b-2", "Net-in-a-b-3"]
