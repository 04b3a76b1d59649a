"""What declarations of options are made of."""

from __future__ import annotations

import msgspec

__all__ = ["PER_DIAGRAM", "READ", "OptionGroup"]

READ = "read"
"""Key in `Meta.extra`: function from a value as written to plain data, for options with a notation of their own."""
PER_DIAGRAM = {"per_diagram": True}
"""`Meta.extra` of options for which a site can't set a default."""


class OptionGroup(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Options that one consumer needs."""
