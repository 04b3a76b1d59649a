"""The last resort: no inputs, so that the diagram shows modules without data flow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modeldiagrams.resolve.code.forward import get_parameters
from modeldiagrams.resolve.rules import Rule
from modeldiagrams.resolve.strategies.requests import Inputs, Strategy

if TYPE_CHECKING:
    from modeldiagrams.resolve.inputs.budget import Budget
    from modeldiagrams.resolve.strategies.requests import InputRequest

__all__ = ["WRITE_INPUTS", "Hierarchy"]

WRITE_INPUTS = (
    "write the option `inputs` with a shape for each tensor (a list of shapes for a list of tensors), or `inputs_from`,"
    " or record a call of a test: `modeldiagrams record -- pytest`"
)
"""Hint for a model that no strategy finds inputs for."""


class Hierarchy(Strategy):
    """The registered modules."""

    def find_inputs(self, request: InputRequest) -> Inputs:
        """No inputs, and a note that says which options to write."""
        parameters = get_parameters(request.model.forward)
        required = [p.name for p in parameters.values() if p.default is p.empty and p.kind is not p.VAR_KEYWORD]
        lines = request.budget.lines
        note = (
            f"No inputs were found that {request.call.model} can be called with, so the diagram shows modules but no "
            f"data flow{_likely_reason(request.budget)}. Its forward takes {', '.join(required or parameters)}: "
            f"{WRITE_INPUTS}."
        )
        reason = f"only the modules are shown, because no example inputs were found in {len(lines)} tries"
        return Inputs(assumptions=(Rule.HIERARCHY.assumption(reason),), note=note, tried=tuple(lines))


def _likely_reason(budget: Budget) -> str:
    """What most passes raised, if it was the same: then it is likely not the inputs' fault."""
    (failure, count), *_ = budget.failures.most_common(1) or [("", 0)]
    return f"; most tries raised {failure}" if 2 * count > budget.failures.total() else ""
