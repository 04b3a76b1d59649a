"""The five rules that pages name: where constructor arguments and inputs come from.

====  =====================  =====================================================
rule  name                   strategies
====  =====================  =====================================================
1     explicit options       `author_options`
2     offered by the class   `class_offers`
3     conventions            `project_calls`, `names_and_layers`, `failures`: arguments
4     inferred inputs        `names_and_layers`, `failures`: inputs
5     module hierarchy       `hierarchy`
====  =====================  =====================================================
"""

from __future__ import annotations

from enum import Enum
from typing import Any

from modeldiagrams.ir.graph import Assumption
from modeldiagrams.options.reading import yaml_line

__all__ = ["Rule", "make_assumption"]


class Rule(Enum):
    """Where constructor arguments and inputs come from."""

    OPTIONS = 1, "explicit options"
    CLASS = 2, "offered by the class"
    CONVENTIONS = 3, "conventions"
    INFERRED = 4, "inferred inputs"
    HIERARCHY = 5, "module hierarchy"

    def assumption(self, reason: str) -> Assumption:
        """The rule as a part of the graph.

        Args:
            reason: In words for readers of a page, who know no rules.
        """
        number, name = self.value
        return Assumption(subject="rule", value=f"{number} ({name})", reason=reason)


def make_assumption(option: str, value: Any, reason: str) -> Assumption:
    """A value as an author would write it.

    Args:
        option: Option, with a name or a position inside: ``kwargs.width``, ``inputs[0]``.
        value: Plain data.
        reason: Why it is this one.
    """
    return Assumption(subject=option, value=yaml_line(value), reason=reason)
