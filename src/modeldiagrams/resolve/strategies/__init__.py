"""The strategies that find constructor arguments and inputs, in the order in which they are asked.

Each file here is one strategy. A new one is a subclass of `requests.Strategy`, and an item of `STRATEGIES`: the first
proposal that works counts, so an item's place is its priority.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modeldiagrams.resolve.strategies.author_options import AuthorOptions
from modeldiagrams.resolve.strategies.class_offers import ClassOffers
from modeldiagrams.resolve.strategies.failure_answers import Failures
from modeldiagrams.resolve.strategies.hierarchy import Hierarchy
from modeldiagrams.resolve.strategies.names_and_layers import NamesAndLayers, OtherUsualInputs
from modeldiagrams.resolve.strategies.project_calls import ProjectCalls

if TYPE_CHECKING:
    from modeldiagrams.resolve.strategies.requests import Strategy

__all__ = ["STRATEGIES"]

STRATEGIES: tuple[Strategy, ...] = (
    AuthorOptions(),
    # a recorded call comes here: `resolve` completes the options by it, and asks the others only where it fails
    ClassOffers(),
    ProjectCalls(),
    NamesAndLayers(),
    Failures(),
    OtherUsualInputs(),
    Hierarchy(),
)
