"""Short models as people write them, to test and measure what is found without any option.

Each file has the models of one way to find arguments and inputs; ``expected.toml`` says of every model what a person
would call it with, in the notation of ``expected.py``.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["ONLY_MODULES", "Entry", "entries"]

ONLY_MODULES = "only modules"
"""Expected of models that nobody could find inputs for."""


@dataclass(frozen=True)
class Entry:
    """One model of the zoo."""

    path: str
    """As the option `model`."""
    group: str
    """A way to find arguments and inputs: a file, `projects` or `options`."""
    expected: str
    options: dict[str, Any] = field(default_factory=dict, hash=False)
    """What its author writes."""


def entries() -> list[Entry]:
    """All models in the order of ``expected.toml``."""
    groups = tomllib.loads((Path(__file__).parent / "expected.toml").read_text())
    return [_entry(group, name, written) for group, models in groups.items() for name, written in models.items()]


def _entry(group: str, name: str, written: str | dict[str, Any]) -> Entry:
    options = {"expected": written} if isinstance(written, str) else dict(written)
    path, expected = options.pop("model", f"{group}.{name}"), options.pop("expected")
    return Entry(f"{__name__}.{path}", group.split(".", maxsplit=1)[0], expected, options)
