"""What the author wrote: `args`, `kwargs`, `config`, `inputs` and `inputs_from`, used exactly as they are."""

from __future__ import annotations

import inspect
from dataclasses import is_dataclass, replace
from functools import partial
from types import UnionType
from typing import TYPE_CHECKING, Any, Union, get_args, get_origin, get_type_hints

from modeldiagrams.errors import TargetError
from modeldiagrams.resolve.code.forward import get_parameters
from modeldiagrams.resolve.inputs.candidate_search import run_trial_pass
from modeldiagrams.resolve.rules import make_assumption
from modeldiagrams.resolve.skip_errors import attempt
from modeldiagrams.resolve.strategies.class_offers import find_config_class
from modeldiagrams.resolve.strategies.requests import Arguments, Inputs, Strategy, name_inputs, name_option
from modeldiagrams.resolve.values.construct import find_call_problem
from modeldiagrams.resolve.values.input_entries import get_entry, is_shape_alone, list_leaves
from modeldiagrams.resolve.values.input_values import call_for_inputs, make_inputs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from modeldiagrams.resolve.strategies.requests import InputRequest, ModelRequest

__all__ = ["AuthorOptions"]


class AuthorOptions(Strategy):
    """Options of the diagram."""

    def propose_arguments(self, request: ModelRequest) -> Iterator[Arguments]:
        """The author's arguments, if there are any."""
        call = request.call
        args, kwargs = tuple(call.args or ()), call.kwargs or {}
        maker = find_config_class(request.maker, is_given=call.config is not None)
        if call.config is not None:
            maker = maker or _optional_config_class(request.maker)
            if maker is None:
                raise TargetError(
                    "option `config` is for classes with a Hugging Face `config_class`, or whose first parameter is "
                    "annotated with a dataclass, or whose one required parameter with a configuration class, and "
                    f"{call.model} has none of these; write constructor arguments with the options `args` and `kwargs`"
                )
            yield Arguments(args, kwargs, maker, call.config, is_default=True)
        elif args or kwargs:
            yield Arguments(args, kwargs, is_default=True)

    def find_inputs(self, request: InputRequest) -> Inputs | None:
        """The author's inputs, if there are any.

        Raises:
            TargetError: if they can't be made.
        """
        call = request.call
        if call.inputs is not None and call.inputs_from is not None:
            raise TargetError("expected one of the options `inputs` and `inputs_from`, got both; leave one out")
        if call.inputs_from is not None:
            return request.with_pass(Inputs(*call_for_inputs(call.inputs_from)))
        if call.inputs is None:
            return None
        inputs = Inputs(*make_inputs(call.inputs))
        entries = _by_name(request, call.inputs)
        is_open = any(is_shape_alone(get_entry(entries, leaf.path)) for leaf in list_leaves(entries))
        return _with_dtypes(request, inputs, entries) if is_open else request.with_pass(inputs)


def _by_name(request: InputRequest, inputs: list[Any] | dict[str | int, Any]) -> dict[str | int, Any]:
    """The option `inputs` as a map, in whichever form it is written."""
    if isinstance(inputs, dict):
        return inputs
    entries = [inputs] if inputs and is_shape_alone(inputs) else inputs
    return dict(zip(name_inputs(request.model, len(entries)), entries, strict=True))


def _with_dtypes(request: InputRequest, inputs: Inputs, entries: dict[str | int, Any]) -> Inputs:
    """The author's inputs; a shape alone becomes a tensor of decimal numbers, or of what the model takes instead."""
    model = request.model
    if find_call_problem(model.forward, inputs.args, inputs.kwargs):
        return inputs
    trace = run_trial_pass(model, inputs.args, inputs.kwargs, "auto")[0]
    if trace.graph.status.error is None:
        return replace(inputs, trace=trace)
    found = attempt("dtypes", request.budget.lines, partial(request.failures.with_dtypes, entries))
    if found is None:
        return request.with_pass(inputs)
    why = "the option gives its shape, and the model takes this dtype"
    changed = {name: entry for name, entry in found.items() if entry != entries[name]}
    said = tuple(make_assumption(name_option(name), entry, why) for name, entry in changed.items())
    return replace(Inputs(*make_inputs(found)), assumptions=said)


def _optional_config_class(maker: Callable[..., Any]) -> type | None:
    """The dataclass that annotates a first parameter with a default: ``cfg: Config | None = None``."""
    first = next(iter(get_parameters(maker).values()), None)
    if first is None or first.kind is first.KEYWORD_ONLY:
        return None
    try:
        hint = get_type_hints(maker.__init__ if inspect.isclass(maker) else maker).get(first.name)
    except Exception:  # noqa: BLE001  (whatever the text of an annotation raises)
        return None
    choices = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    classes = [choice for choice in choices if inspect.isclass(choice) and is_dataclass(choice)]
    return classes[0] if classes else None
