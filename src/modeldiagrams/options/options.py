"""The options of a diagram, declared once for all hosts, the command line and Python.

Authors write options flat; internally there is a struct for each consumer: `Call` and `Limits` for the worker, `View`
for the viewer, `Author` for overlays, `Figure` for hosts, `Compare` for comparisons, and `Tour` for tours. Names, help
and order of options are derived from these structs, so a new option is one new field.
"""

from __future__ import annotations

import msgspec

from modeldiagrams.options.author import Author
from modeldiagrams.options.call import Call, Limits, is_function, is_graph_file, package_of
from modeldiagrams.options.figure import Compare, Figure, Tour
from modeldiagrams.options.view import View

__all__ = [
    "Author",
    "Call",
    "Compare",
    "Figure",
    "Limits",
    "Options",
    "Tour",
    "View",
    "is_function",
    "is_graph_file",
    "package_of",
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

    def called(self, name: str | None) -> Options:
        """Return the options with another name of the model, or unchanged for None."""
        return msgspec.structs.replace(self, call=msgspec.structs.replace(self.call, model=name)) if name else self
