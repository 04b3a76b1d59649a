"""What strategies are asked for, and what they answer: constructor arguments, models, inputs."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from modeldiagrams.resolve.code.forward import get_parameters
from modeldiagrams.resolve.code.user_code import user_code
from modeldiagrams.resolve.inputs.candidate_search import CandidateSearch, run_trial_pass
from modeldiagrams.resolve.inputs.failure_search import FailureSearch
from modeldiagrams.resolve.inputs.forward_parameters import infer_candidates
from modeldiagrams.resolve.rules import make_assumption
from modeldiagrams.resolve.values.construct import find_call_problem
from modeldiagrams.resolve.values.input_values import make_inputs
from modeldiagrams.resolve.values.option_values import make_option_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from torch import nn

    from modeldiagrams.errors import TargetError
    from modeldiagrams.ir.graph import Assumption
    from modeldiagrams.options.options import Call
    from modeldiagrams.resolve.inputs.budget import Budget
    from modeldiagrams.resolve.inputs.candidate_search import FoundInputs
    from modeldiagrams.resolve.rules import Rule
    from modeldiagrams.tracer import Trace

__all__ = ["Arguments", "Built", "InputRequest", "Inputs", "ModelRequest", "Strategy", "name_inputs", "name_option"]


@dataclass(frozen=True)
class Arguments:
    """How a class or factory is called."""

    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)
    config_class: Callable[..., Any] | None = None
    """Makes the configuration, the first argument."""
    config: dict[str, Any] = field(default_factory=dict)
    """Values for the configuration."""
    assumptions: tuple[Assumption, ...] = ()
    factory: Callable[..., Any] | None = None
    """What to call in place of the class that the author names."""
    is_guessed: bool = False
    """Whether they are guesses: then the constructor runs without access to files and connections."""
    is_default: bool = False
    """Whether an error of this call is the one that authors should see."""
    files: tuple[str, ...] = ()
    """Files that were read for them; a change of one may change them."""

    def values_by_name(self, maker: Callable[..., Any]) -> dict[str, Any]:
        """All values by name, including defaults."""
        defaults = {name: p.default for name, p in get_parameters(maker).items() if p.default is not p.empty}
        return {**defaults, **dict(zip(get_parameters(maker), self.args, strict=False)), **self.kwargs, **self.config}

    def make_config(self) -> Any:
        """A new configuration for every use, because models write into it."""
        name = getattr(self.config_class, "__name__", "config_class")
        with user_code(f"making a {name} from the option `config`" if self.config else f"making a default {name}"):
            return self.config_class(**make_option_value(self.config)) if self.config_class else None


@dataclass(frozen=True)
class Built:
    """A model in eval mode, and how it was made."""

    model: nn.Module
    maker: Any
    """The instance, class or factory that made it."""
    arguments: Arguments = field(default_factory=Arguments)
    variant: str = ""
    """How it differs from the default model; empty for that one."""

    @property
    def is_on_meta(self) -> bool:
        """Whether it has no memory for its weights."""
        return any(parameter.is_meta for parameter in self.model.parameters())


@dataclass
class Inputs:
    """Example inputs, or why there are none."""

    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)
    assumptions: tuple[Assumption, ...] = ()
    note: str | None = None
    """For a model that no strategy finds inputs for: which options to write."""
    tried: tuple[str, ...] = ()
    """The passes of the search, one line each."""
    trace: Trace | None = None
    """The pass with these inputs, if one was recorded."""

    @property
    def is_enough(self) -> bool:
        """Whether no other variant of the model needs a try."""
        return self.note is None and (self.trace is None or self.trace.graph.status.error is None)


@dataclass
class ModelRequest:
    """A class or function that needs arguments."""

    maker: Callable[..., Any]
    call: Call
    errors: list[TargetError] = field(default_factory=list)
    """What the calls with the arguments proposed so far raised, last one last."""
    failure: TargetError | None = None
    """What the default call raised: the error that authors should see."""
    is_configured: bool = False
    """Whether a configuration decides all arguments, so that names and uses don't."""
    lacks_layers: bool = False
    """Whether a model was made, but without some of its layers."""

    @property
    def is_open(self) -> bool:
        """Whether the author says nothing about how the model is made."""
        return not self.call.args and not self.call.kwargs and self.call.config is None


@dataclass
class InputRequest:
    """A model that needs inputs."""

    built: Built
    call: Call
    budget: Budget
    """Limits and logs the passes of all strategies together."""

    @property
    def model(self) -> nn.Module:
        """What is called."""
        return self.built.model

    @cached_property
    def failures(self) -> FailureSearch:
        """The search that answers failed passes; strategies share what it has learnt."""
        return FailureSearch(self.model, self.budget)

    @cached_property
    def usual(self) -> list[CandidateSearch]:
        """Searches over usual inputs, by names, annotations and first layers; they can be continued."""
        return [CandidateSearch(self.model, each, self.budget) for each in infer_candidates(self.model) if each]

    def with_pass(self, inputs: Inputs) -> Inputs:
        """The same with its pass, where that decides whether another variant of the model is needed."""
        model, args, kwargs = self.model, inputs.args, inputs.kwargs
        if not (self.built.is_on_meta or self.built.variant) or find_call_problem(model.forward, args, kwargs):
            return inputs
        return replace(inputs, trace=run_trial_pass(model, args, kwargs, "auto")[0])

    def as_inputs(self, found: FoundInputs, rule: Rule) -> Inputs:
        """Inputs of a search that ended, with the reasons for each."""
        args, kwargs = make_inputs(found.entries)
        count = len(self.budget.lines)
        tries = f", after {count} tries" if count > 1 else ""
        assumption = rule.assumption(f"example inputs that the model can be called with{tries}")
        values = [make_assumption(name_option(key), entry, found.reasons[key]) for key, entry in found.entries.items()]
        return Inputs(args, kwargs, (assumption, *values), tried=tuple(self.budget.lines), trace=found.trace)


def name_inputs(model: nn.Module, count: int) -> list[str | int]:
    """Names of the first positional parameters; their positions, unless all of them have one."""
    parameters = [*get_parameters(model.forward).values()][:count]
    named = [p.name for p in parameters if p.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]
    return [*named] if len(named) == count else [*range(count)]


def name_option(key: str | int) -> str:
    """An input's place in the option `inputs`."""
    return f"inputs[{key}]" if isinstance(key, int) else f"inputs.{key}"


class Strategy:
    """One source of constructor arguments and inputs."""

    def propose_arguments(self, request: ModelRequest) -> Iterator[Arguments]:  # noqa: ARG002
        """Arguments to try, likeliest first; the next ones are asked for only after these failed."""
        yield from ()

    def find_inputs(self, request: InputRequest) -> Inputs | None:  # noqa: ARG002
        """Inputs with which the model runs; None if there are none."""
        return None
