"""Renders the author's notes as a numbered list below the picture; the nodes have the numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup

from modeldiagrams.html.escape import html_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from modeldiagrams.engine.diagram import Diagram

__all__ = ["NOTES", "collect_notes", "make_note_id", "make_notes_prefix", "render_notes", "render_plain_notes"]

NOTES = "notes.js"
"""The script that shows notes next to their nodes, and images in full size; loaded on pages that have any."""


def collect_notes(diagram: Diagram) -> list[str]:
    """Return the texts of a diagram's notes, in the order of their numbers."""
    if diagram.overlay:
        return [note.text for note in diagram.overlay.notes]
    return [*(diagram.options.author.notes or {}).values()]


def make_notes_prefix(diagram: Diagram) -> str | None:
    """Return the prefix of the ids of notes and images; None if there are none."""
    images = diagram.overlay.images if diagram.overlay else ()
    return diagram.anchor if images or collect_notes(diagram) else None


def make_note_id(diagram: Diagram, number: int) -> str:
    """Return the id of a note on its page; numbers begin with 1."""
    return f"{make_notes_prefix(diagram)}-note-{number}"


def render_notes(diagram: Diagram, contents: Sequence[str]) -> Markup:
    """Render the list of notes.

    Args:
        diagram: The diagram.
        contents: The HTML of each note, made by the host.
    """
    items = "".join(
        f'<li id="{html_text(make_note_id(diagram, i))}">{html}</li>\n' for i, html in enumerate(contents, start=1)
    )
    return Markup(f'<ol class="mg-notes">\n{items}</ol>\n') if items else Markup()  # noqa: S704  the host's HTML


def render_plain_notes(diagram: Diagram) -> Markup:
    """Render the list of notes outside pages, where their markup is unknown."""
    paragraphs = ["<br>".join(map(html_text, text.split("\n"))) for text in collect_notes(diagram)]
    return render_notes(diagram, [f"<p>{paragraph}</p>" for paragraph in paragraphs])
