"""Reference tables made from the code, so that they can't go stale. Both sites include them."""

from __future__ import annotations

from pathlib import Path

from modeldiagrams.options import option_help

GENERATED = Path(__file__).parent / "_build" / "generated"


def write() -> None:
    """Write the table of options as reStructuredText and as Markdown."""
    GENERATED.mkdir(parents=True, exist_ok=True)
    rst = "\n".join(f"``{name}``\n   {text.replace('`', '``')}\n" for name, text in option_help().items())
    markdown = "\n".join(f"`{name}`\n:   {text}\n" for name, text in option_help().items())
    (GENERATED / "options.rst").write_text(rst, "utf-8")
    (GENERATED / "options.md").write_text(markdown, "utf-8")


def on_config(config: object) -> None:  # noqa: ARG001  (MkDocs passes it by name)
    """MkDocs' hook: what ``conf.py`` does for Sphinx."""
    write()
