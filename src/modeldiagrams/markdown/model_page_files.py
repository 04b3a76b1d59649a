"""Writes the pages of catalogues' models as files, for Zensical, which has no pages without a file."""

from __future__ import annotations

import contextlib
import posixpath
from typing import TYPE_CHECKING

from modeldiagrams.common.files import write_atomically
from modeldiagrams.hosting.catalogue_pages import MARK

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["write_model_pages"]


def write_model_pages(docs: Path, page: str, texts: Mapping[str, str]) -> list[str]:
    """Write the pages of the models that a page lists, remove those that it lists no more, and return the new ones.

    A `.gitignore` keeps them out of commits, and lists them for the next time.

    Args:
        docs: The folder of all pages.
        page: The page's file, relative to it.
        texts: The pages: file relative to `docs` → text.
    """
    folder = docs / posixpath.splitext(page)[0]
    ignored = folder / ".gitignore"
    known = ignored.read_text("utf-8").splitlines() if ignored.is_file() else [f"# {MARK}"]
    written = {file: text for file, text in texts.items() if _is_ours(docs / file)}
    new = [file for file in written if not (docs / file).is_file()]
    for file, text in written.items():
        write_atomically(docs / file, text.encode())
    if known[0] == f"# {MARK}":
        names = sorted(f"/{posixpath.basename(file)}" for file in written)
        for name in {*known[1:-1]}.difference(names):
            if _is_ours(folder / name[1:]):
                (folder / name[1:]).unlink(missing_ok=True)
        if names:
            write_atomically(ignored, "\n".join([known[0], *names, "/.gitignore", ""]).encode())
        elif ignored.is_file():
            ignored.unlink()
            with contextlib.suppress(OSError):
                folder.rmdir()
    return new


def _is_ours(file: Path) -> bool:
    """Whether a file is missing, or was not written by an author."""
    return not file.is_file() or MARK in file.read_text("utf-8", errors="replace")[:400]
