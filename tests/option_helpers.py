"""Options as code writes them: flat, with Python's names."""

from __future__ import annotations

from typing import Any

import msgspec

from modeldiagrams.options.options import GROUPS, Options
from modeldiagrams.options.parsing import parse_options

_WRITTEN = {field.name: field.encode_name for group in GROUPS for field in msgspec.structs.fields(group.type)}


def make_options(**values: Any) -> Options:
    return parse_options({_WRITTEN[name]: value for name, value in values.items()})
