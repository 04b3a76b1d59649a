"""What a model is called with, by the first rule that has an answer."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from modeldiagrams.errors import TargetError
from modeldiagrams.graph import Assumption
from modeldiagrams.target.build import call_problem
from modeldiagrams.target.forward import parameters_of
from modeldiagrams.target.inferred import inferred_offers
from modeldiagrams.target.inputs import from_callable, from_entries
from modeldiagrams.target.offered import configured_size, dummy_offers, example
from modeldiagrams.target.pretrained import configured_offers
from modeldiagrams.target.rules import Rule, assumed
from modeldiagrams.target.search import Tries, passed, search
from modeldiagrams.target.written import entry_of, is_plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from torch import nn

    from modeldiagrams.options import Options
    from modeldiagrams.target.build import Built
    from modeldiagrams.target.offered import Example
    from modeldiagrams.target.offers import Offer
    from modeldiagrams.target.search import Found
    from modeldiagrams.tracer import Trace

__all__ = ["Given", "find_inputs"]


@dataclass
class Given:
    """Inputs, or why there are none."""

    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)
    assumptions: tuple[Assumption, ...] = ()
    note: str | None = None
    """What to write, for a model that no rule finds inputs for."""
    tried: tuple[str, ...] = ()
    trace: Trace | None = None
    """The pass with them, where it was recorded."""

    @property
    def is_enough(self) -> bool:
        """Whether there is no need to look at another variant of the model."""
        return self.note is None and (self.trace is None or self.trace.graph.status.error is None)


def find_inputs(built: Built, options: Options, tries: Tries) -> Given:
    """Ask the rules in their order.

    Args:
        built: What will be called.
        options: What the author wrote: `inputs`, `inputs_from`, or neither.
        tries: Is told every try, and how many there may be.

    Returns:
        The inputs. A model that no rule finds inputs for has a note instead.

    Raises:
        TargetError: if what the author wrote, in the options or in the class, can't be made.
    """
    if options.inputs is not None and options.inputs_from is not None:
        raise TargetError("expected one of the options `inputs` and `inputs_from`, got both; leave one out")
    if options.inputs_from is not None:
        return _tried(built, Given(*from_callable(options.inputs_from)))
    if options.inputs is not None:
        return _tried(built, Given(*from_entries(options.inputs)))
    offered = example(built.model, built.maker, options.model)
    problem = call_problem(built.model.forward, offered.args, offered.kwargs) if offered else None
    if offered and (offered.inputs_from or not problem):
        return _tried(built, _from_example(built.model, offered))
    if offered:
        tries.lines.append(f"{offered.source}: {problem}")
    return _searched(built.model, tries) or _hierarchy(built.model, options.model, tries)


def _tried(built: Built, given: Given) -> Given:
    """With its pass, where that tells whether another variant of the model is needed."""
    if not (built.is_on_meta or built.variant) or call_problem(built.model.forward, given.args, given.kwargs):
        return given
    return replace(given, trace=passed(built.model, given.args, given.kwargs, "auto")[0])


def _searched(model: nn.Module, tries: Tries) -> Given | None:
    """Rules 2 and 4: candidates of the class, then of names and layers."""
    for offers in _offered(model, tries):
        found = search(model, offers, tries)
        if found:
            return _from_search(found, Rule.OFFERED, tries)
    if not parameters_of(model.forward) and call_problem(model.forward, (object(),), {}):
        reason = "forward has no parameters"
        return Given(assumptions=(Rule.OFFERED.assumption(reason), assumed("inputs", [], reason)))
    for inferred in inferred_offers(model):
        found = search(model, inferred, tries)
        if found:
            return _from_search(found, Rule.INFERRED, tries)
    return None


def _offered(model: nn.Module, tries: Tries) -> Iterator[Mapping[str | int, Sequence[Offer]]]:
    """Candidates by rule 2; what can't be read is told and left out."""
    for offers_of in (dummy_offers, configured_size):
        try:
            yield offers_of(model)
        except TargetError as error:
            tries.lines.append(str(error))
    yield from configured_offers(model)


def _from_example(model: nn.Module, offered: Example) -> Given:
    reason = f"from {offered.source}"
    told = Rule.OFFERED.assumption(f"inputs {reason}")
    if offered.inputs_from:
        values = [Assumption(subject="inputs_from", value=offered.inputs_from, reason="the class offers it")]
    else:
        keys: list[str | int] = [*_names(model, len(offered.args)), *offered.kwargs]
        entries = [entry_of(value) for value in (*offered.args, *offered.kwargs.values())]
        pairs = dict(zip(keys, entries, strict=True)) if is_plain(entries) else {}
        values = [assumed(_place(key), entry, reason) for key, entry in pairs.items()]
    return Given(offered.args, offered.kwargs, (told, *values))


def _from_search(found: Found, rule: Rule, tries: Tries) -> Given:
    args, kwargs = from_entries(found.entries)
    count = len(tries.lines)
    told = rule.assumption(f"inputs found in {count} tries" if count > 1 else "inputs found at once")
    values = [assumed(_place(key), entry, found.reasons[key]) for key, entry in found.entries.items()]
    return Given(args, kwargs, (told, *values), tried=tuple(tries.lines), trace=found.trace)


def _hierarchy(model: nn.Module, name: str, tries: Tries) -> Given:
    parameters = parameters_of(model.forward)
    names = [key for key, parameter in parameters.items() if parameter.default is inspect.Parameter.empty]
    plain = [key for key in names or parameters if parameters[key].kind not in _VARIADIC]
    example = "{" + ", ".join(f"{key}: [1, 8]" for key in plain) + "}" if plain else "[[1, 8]]"
    note = (
        f"No inputs were found that {name} can be called with, so it shows modules but no data flow. Its forward takes "
        f"{', '.join(parameters)}: write the option `inputs`, e.g. `inputs: {example}` with the right shapes, or "
        "`inputs_from`."
    )
    told = Rule.HIERARCHY.assumption(f"{len(tries.lines)} tries of inputs did not get through forward")
    return Given(assumptions=(told,), note=note, tried=tuple(tries.lines))


_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def _names(model: nn.Module, count: int) -> list[str | int]:
    """Names of the first positional parameters; their positions, unless all of them have one."""
    parameters = [*parameters_of(model.forward).values()][:count]
    named = [p.name for p in parameters if p.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]
    return [*named] if len(named) == count else [*range(count)]


def _place(key: str | int) -> str:
    return f"inputs[{key}]" if isinstance(key, int) else f"inputs.{key}"
