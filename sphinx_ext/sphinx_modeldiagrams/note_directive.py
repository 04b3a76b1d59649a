"""Notes on nodes: the directive ``.. model-note:: pattern`` inside ``model-graph``, and the list below it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

from modeldiagrams.hosting.mentions import NOTE
from modeldiagrams.html.note_list import make_note_id

if TYPE_CHECKING:
    from collections.abc import Sequence

    from docutils.nodes import Node

    from modeldiagrams.engine.diagram import Diagram

__all__ = ["ModelNoteDirective", "model_note", "parse_notes", "render_notes", "split_notes"]

_INSIDE = "modeldiagrams_inside"
"""Key in the environment's temporary data that is set while reading the content of a diagram."""


class model_note(nodes.General, nodes.Element):  # noqa: N801  (as docutils names nodes)
    """One note with its pattern and text; `render_notes` takes its children."""


class ModelNoteDirective(SphinxDirective):
    """A note on the nodes that match a pattern."""

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True

    def run(self) -> list[Node]:
        """Build the note; called by docutils."""
        self.assert_has_content()
        if not self.env.temp_data.get(_INSIDE):
            raise self.error("`model-note` belongs inside `model-graph` or `model-tour`, below its options; indent it")
        note = model_note("", pattern=self.arguments[0], text="\n".join(self.content))
        self.state.nested_parse(self.content, self.content_offset, note)
        return [note]


def split_notes(content: StringList) -> tuple[StringList, int]:
    """Return the lines before the first note, and their number."""
    first = next((i for i, line in enumerate(content) if NOTE.match(line)), len(content))
    return content[:first], first


def parse_notes(directive: SphinxDirective, first: int) -> tuple[list[model_note], list[Node]]:
    """Parse a directive's content from a line on; return notes and other nodes."""
    holder = nodes.Element()
    before = directive.env.temp_data.get(_INSIDE)
    directive.env.temp_data[_INSIDE] = True
    try:
        directive.state.nested_parse(directive.content[first:], directive.content_offset + first, holder)
    finally:
        directive.env.temp_data[_INSIDE] = before
    found = [*holder.findall(model_note)]
    for note in found:  # a tour's step may have one, too
        note.parent.remove(note)
    return found, [*holder.children]


def render_notes(directive: SphinxDirective, diagram: Diagram, written: Sequence[model_note]) -> list[Node]:
    """Build the numbered list of notes, and parse those of the option.

    Args:
        directive: The diagram's.
        diagram: Whose notes.
        written: Those that are directives.
    """
    notes = diagram.options.author.notes
    if not notes:
        return []
    own = {note["pattern"]: note for note in written}
    listed = nodes.enumerated_list(classes=["mg-notes"], enumtype="arabic", prefix="", suffix=".")
    for number, (pattern, text) in enumerate(notes.items(), start=1):
        item = nodes.list_item(ids=[make_note_id(diagram, number)])
        if pattern in own:
            item += own[pattern].children
        else:
            directive.state.nested_parse(StringList(text.splitlines(), directive.env.docname), 0, item)
        listed += item
    return [listed]
