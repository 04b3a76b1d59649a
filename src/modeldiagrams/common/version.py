"""The version of this package. Not in ``__init__``, which imports the public names: modules below them need it, too."""

from __future__ import annotations

import functools
from importlib import metadata

__all__ = ["own_version"]


@functools.cache
def own_version() -> str:
    """The installed version."""
    try:
        return metadata.version("modeldiagrams")
    except metadata.PackageNotFoundError:
        return "0+unknown"  # run from a checkout that is not installed
