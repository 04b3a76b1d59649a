"""Building blocks for declaring options."""

from __future__ import annotations

import msgspec

__all__ = ["PER_DIAGRAM", "READ", "OptionGroup"]

READ = "read"
"""Key in `Meta.extra` of a function that reads a written value as plain data, for options with their own notation."""
PER_DIAGRAM = {"per_diagram": True}
"""`Meta.extra` of options for which a site can't set a default."""


class OptionGroup(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The options of one consumer."""
