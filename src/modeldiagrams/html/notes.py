"""The author's notes below a picture, as a numbered list; the numbers are at the nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup

from modeldiagrams.html.escape import html_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from modeldiagrams.engine.diagram import Diagram

__all__ = ["NOTES", "note_id", "notes_list", "notes_of", "notes_prefix", "plain_notes"]

NOTES = "notes.js"
"""Shows notes beside their nodes, and images in full size; pages with any load it."""


def notes_of(diagram: Diagram) -> Mapping[str, str]:
    """Pattern → text of the notes of a diagram, in the order of their numbers."""
    if diagram.overlay:
        return {f"{i} {note.nodes}": note.text for i, note in enumerate(diagram.overlay.notes)}
    return diagram.options.author.notes or {}


def notes_prefix(diagram: Diagram) -> str | None:
    """What the ids of the notes and images begin with; None where there are none."""
    images = diagram.overlay.images if diagram.overlay else ()
    return diagram.anchor if images or notes_of(diagram) else None


def note_id(diagram: Diagram, number: int) -> str:
    """The id of a note's place on its page; numbers begin with 1."""
    return f"{notes_prefix(diagram)}-note-{number}"


def notes_list(diagram: Diagram, contents: Sequence[str]) -> Markup:
    """The list of notes.

    Args:
        diagram: Whose notes.
        contents: Their HTML, made by the host of their text.
    """
    items = "".join(
        f'<li id="{html_text(note_id(diagram, i))}">{html}</li>\n' for i, html in enumerate(contents, start=1)
    )
    return Markup(f'<ol class="mg-notes">\n{items}</ol>\n') if items else Markup()  # noqa: S704  the host's HTML


def plain_notes(diagram: Diagram) -> Markup:
    """The list of notes outside of pages, where nothing tells their markup."""
    texts = notes_of(diagram).values()
    return notes_list(diagram, [f"<p>{html_text(text).replace(chr(10), '<br>')}</p>" for text in texts])
