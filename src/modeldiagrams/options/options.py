"""The options of a diagram, declared once for all hosts, the command line and Python.

Authors write options flat; internally there is a struct for each consumer: `Call` and `Limits` for the worker, `View`
for the viewer, `Author` for overlays, `Figure` for hosts, `Compare` for comparisons, and `Tour` for tours. Names, help
and order of options are derived from these structs, so a new option is one new field.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec.structs import FieldInfo, fields, replace

from modeldiagrams.options.author import Author
from modeldiagrams.options.call import Call, Limits, get_package, is_graph_file
from modeldiagrams.options.figure import Compare, Figure, Tour
from modeldiagrams.options.view import View

__all__ = [
    "GROUPS",
    "Author",
    "Call",
    "Compare",
    "Figure",
    "Limits",
    "Options",
    "Tour",
    "View",
    "get_package",
    "is_graph_file",
]


class Options(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """All options of one diagram."""

    call: Call
    view: View = View()
    author: Author = Author()
    limits: Limits = Limits()
    figure: Figure = Figure()
    compare: Compare = Compare()
    tour: Tour = Tour()
    site: tuple[str, ...] = ()
    """Names of the options whose values are the site's."""

    @property
    def written(self) -> Options:
        """What the author wrote, without the site's values. It names files, so that a site's change renames none."""
        if not self.site:
            return self
        own: dict[str, Any] = {
            group.name: replace(
                getattr(self, group.name),
                **{field.name: field.default for field in fields(group.type) if field.encode_name in self.site},
            )
            for group in GROUPS
        }
        return replace(self, site=(), **own)

    def called(self, name: str | None) -> Options:
        """Return the options with another name of the model, or unchanged for None."""
        return replace(self, call=replace(self.call, model=name)) if name else self


GROUPS: tuple[FieldInfo, ...] = tuple(field for field in fields(Options) if field.name != "site")
"""The fields of `Options` that are groups of options."""
