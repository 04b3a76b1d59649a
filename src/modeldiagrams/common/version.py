"""The version of this package. It isn't in ``__init__``, because lower modules need it too."""

from __future__ import annotations

import functools
from importlib import metadata

__all__ = ["read_version"]


@functools.cache
def read_version() -> str:
    """Return the installed version."""
    try:
        return metadata.version("modeldiagrams")
    except metadata.PackageNotFoundError:
        return "0+unknown"  # a checkout that is not installed
