"""Constructor arguments that plain data can't hold, written as Hydra writes them.

=======================================================  ============================================================
entry                                                    value
=======================================================  ============================================================
``{_target_: mypkg.Encoder, width: 32}``                 what the class or function makes of these arguments
``{_target_: torch.nn.Linear, _args_: [32, 8]}``         the same with positional arguments
``{_target_: torch.optim.SGD, _partial_: true, lr: 1}``  a function that needs the other arguments
``{_object_: torch.nn.ReLU}``                            the object itself: a class, a function
=======================================================  ============================================================
"""

from __future__ import annotations

import functools
from typing import Any

from modeldiagrams.errors import TargetError
from modeldiagrams.resolve.code.user_code import user_code
from modeldiagrams.resolve.values.locate import locate

__all__ = ["make_option_value"]


def make_option_value(value: Any) -> Any:
    """Value of an entry, new for every call, because models write into what they are given.

    Args:
        value: Plain data, in which maps with ``_target_`` and ``_object_`` stand for objects.

    Returns:
        The same with these objects.

    Raises:
        TargetError: naming the object that doesn't exist or can't be made.
    """
    match value:
        case {"_object_": str(path)} if len(value) == 1:
            return locate(path)
        case {"_target_": str(path)}:
            return _made(path, value)
        case dict():
            return {key: make_option_value(item) for key, item in value.items()}
        case list():
            return [make_option_value(item) for item in value]
    return value


def _made(path: str, entry: dict[str, Any]) -> Any:
    maker = locate(path)
    args = make_option_value(entry.get("_args_", []))
    if not callable(maker) or not isinstance(args, list):
        raise TargetError(f"expected a class or function for `_target_` and a list for `_args_`, got {entry}")
    kwargs = {
        key: make_option_value(item) for key, item in entry.items() if key not in ("_target_", "_args_", "_partial_")
    }
    if entry.get("_partial_") is True:
        return functools.partial(maker, *args, **kwargs)
    with user_code(f"making a {path}"):
        return maker(*args, **kwargs)
