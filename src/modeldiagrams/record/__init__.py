"""Records how the tests and examples of a project call its models, for diagrams without options.

`run` runs a command in which `recorder` sees the calls and `writing` writes them as options; `calls` is the file of
calls, which documentation reads without torch; `documented` says which classes the documentation names; `check` says
which calls no longer work.
"""

from __future__ import annotations

__all__: list[str] = []
