"""The options of a diagram: one declaration for all hosts, the command line and Python.

Authors write options flat; inside they are a struct for each consumer, in files of their own: the worker takes `Call`
and `Limits`, the viewer `View`, overlays `Author`, the hosts `Figure`, comparisons `Compare`, and tours `Tour`. What
needs the names, the documentation or the order of options derives them from these structs, so a new option is one new
field.
"""

from __future__ import annotations

import msgspec

from modeldiagrams.options.author import Author
from modeldiagrams.options.call import Call, Limits, is_graph_file, package_of
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
        """The same with another name of the model; unchanged for None."""
        return msgspec.structs.replace(self, call=msgspec.structs.replace(self.call, model=name)) if name else self
