"""Finds the files of the built viewer (see ``hatch_build.py``)."""

from __future__ import annotations

from pathlib import Path

from modeldiagrams.errors import RenderError

__all__ = ["find_asset"]

_STATIC = Path(__file__).with_name("static")


def find_asset(name: str) -> Path:
    """Return the path of a built file, for example ``viz.js``.

    Raises:
        RenderError: if the viewer has not been built.
    """
    path = _STATIC / name
    if not path.is_file():
        raise RenderError(f"the viewer is not built: {path} is missing; run `make viewer` or install a released wheel")
    return path
