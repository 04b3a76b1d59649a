"""The HTML templates."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import jinja2

from modeldiagrams.html.escape import html_text

__all__ = ["load_template"]

_FOLDER = Path(__file__).with_name("templates")


def load_template(name: str) -> jinja2.Template:
    """Load a template by its name without suffixes; it escapes every value."""
    return _make_environment().get_template(f"{name}.html.jinja")


@cache
def _make_environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(_FOLDER),
        autoescape=True,
        finalize=html_text,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        optimized=False,  # most builds render templates too seldom for this to pay
    )
