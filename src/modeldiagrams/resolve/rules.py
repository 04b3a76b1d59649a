"""The five rules, in the order in which they apply, and the file of each.

====  =====================  ======================================  ===========================================
rule  name                   how the model is built                  how it is called
====  =====================  ======================================  ===========================================
1     explicit options       `build`                                 `inputs`
2     offered by the class   `build` (`config_class`)                `class_examples`, `huggingface`
3     conventions            `evidence`, `factories`, `conventions`,
                             `constructor`
4     inferred inputs                                                `inferred`, `layers`, `parameter_names`,
                                                                     then `input_solver`
5     module hierarchy                                               not at all: `tracer.graph.build_graph`
====  =====================  ======================================  ===========================================

The names that rules 2 to 4 know are data, in ``names.yaml``, and in ``vocabulary.toml`` for `constructor`.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

from modeldiagrams.ir.graph import Assumption
from modeldiagrams.options.reading import yaml_line

__all__ = ["Rule", "assumed"]


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


def assumed(option: str, value: Any, reason: str) -> Assumption:
    """A value as an author would write it.

    Args:
        option: Option, with a name or a position inside: ``kwargs.width``, ``inputs[0]``.
        value: Plain data.
        reason: Why it is this one.
    """
    return Assumption(subject=option, value=yaml_line(value), reason=reason)
