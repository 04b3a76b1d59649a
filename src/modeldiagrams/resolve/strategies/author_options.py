"""What the author wrote: `args`, `kwargs`, `config`, `inputs` and `inputs_from`, used exactly as they are."""

from __future__ import annotations

import inspect
from dataclasses import is_dataclass
from types import UnionType
from typing import TYPE_CHECKING, Any, Union, get_args, get_origin, get_type_hints

from modeldiagrams.errors import TargetError
from modeldiagrams.resolve.code.forward import parameters_of
from modeldiagrams.resolve.strategies.class_offers import default_config_class
from modeldiagrams.resolve.strategies.requests import Arguments, Inputs
from modeldiagrams.resolve.values.tensors import from_callable, from_entries

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from modeldiagrams.resolve.strategies.requests import InputRequest, ModelRequest

__all__ = ["AuthorOptions"]


class AuthorOptions:
    """Options of the diagram."""

    def propose_arguments(self, request: ModelRequest) -> Iterator[Arguments]:
        """The author's arguments, if there are any."""
        call = request.call
        args, kwargs = tuple(call.args or ()), call.kwargs or {}
        maker = default_config_class(request.maker, is_given=call.config is not None)
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
            return request.with_pass(Inputs(*from_callable(call.inputs_from)))
        return None if call.inputs is None else request.with_pass(Inputs(*from_entries(call.inputs)))


def _optional_config_class(maker: Callable[..., Any]) -> type | None:
    """The dataclass that annotates a first parameter with a default: ``cfg: Config | None = None``."""
    first = next(iter(parameters_of(maker).values()), None)
    if first is None or first.kind is first.KEYWORD_ONLY:
        return None
    try:
        hint = get_type_hints(maker.__init__ if inspect.isclass(maker) else maker).get(first.name)
    except Exception:  # noqa: BLE001  (whatever the text of an annotation raises)
        return None
    choices = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    classes = [choice for choice in choices if inspect.isclass(choice) and is_dataclass(choice)]
    return classes[0] if classes else None
