"""Reference tables made from the code, so that they can't go stale. Both sites include them."""

from __future__ import annotations

from pathlib import Path

from modeldiagrams.options import option_help
from modeldiagrams.settings import setting_help

GENERATED = Path(__file__).parent / "_build" / "generated"


def write() -> None:
    """Write the tables of options and settings as reStructuredText and as Markdown."""
    GENERATED.mkdir(parents=True, exist_ok=True)
    settings = setting_help()
    in_conf_py = {f"modeldiagrams_{name}": text for name, text in settings.items()}
    for name, rst, markdown in (("options", option_help(), option_help()), ("settings", in_conf_py, settings)):
        lines = (f"``{word}``\n   {text.replace('`', '``')}\n" for word, text in rst.items())
        (GENERATED / f"{name}.rst").write_text("\n".join(lines), "utf-8")
        lines = (f"`{word}`\n:   {text}\n" for word, text in markdown.items())
        (GENERATED / f"{name}.md").write_text("\n".join(lines), "utf-8")


def on_config(config: object) -> None:  # noqa: ARG001  (MkDocs passes it by name)
    """MkDocs' hook: what ``conf.py`` does for Sphinx."""
    write()
