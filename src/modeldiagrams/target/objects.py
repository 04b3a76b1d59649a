"""Constructor arguments that plain data can't hold, written as Hydra writes them.

=======================================================  ============================================================
entry                                                    value
=======================================================  ============================================================
``{_target_: mypkg.Encoder, width: 32}``                 what the class or function makes of these arguments
``{_target_: torch.nn.Linear, _args_: [32, 8]}``         the same with positional arguments
``{_object_: torch.nn.ReLU}``                            the object itself: a class, a function
=======================================================  ============================================================
"""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from modeldiagrams.errors import TargetError
from modeldiagrams.target.locate import locate
from modeldiagrams.target.user_code import user_code

__all__ = ["Pyramid", "Settings", "from_option", "with_attributes"]


class Settings(dict[str, Any]):
    """A configuration whose values are read as keys and as attributes."""

    def __getattr__(self, name: str) -> Any:
        """The value of a key.

        Raises:
            AttributeError: if there is no such key.
        """
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


class Pyramid(nn.Module):
    """Convolutions one after another, each of which halves the sides of a picture; gives what each of them makes."""

    def __init__(self, channels: list[int]) -> None:
        """Make one convolution for each number of channels.

        Args:
            channels: Of the pictures that they give; that of the input has three.
        """
        super().__init__()
        pairs = zip([3, *channels], channels, strict=False)
        self.stages = nn.ModuleList(nn.Conv2d(before, after, 3, 2, 1) for before, after in pairs)

    def forward(self, x: Tensor) -> list[Tensor]:
        """Pictures, each half as wide as the one before."""
        made = []
        for stage in self.stages:
            x = stage(x)
            made.append(x)
        return made


def with_attributes(module: nn.Module, **attributes: Any) -> nn.Module:
    """A module with attributes that its class doesn't have, for models that ask a part for its sizes.

    Args:
        module: The module; it is changed.
        attributes: By name.
    """
    for name, value in attributes.items():
        setattr(module, name, value)
    return module


def from_option(value: Any) -> Any:
    """The value of an entry, new for every call, because models write into what they are given.

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
            return {key: from_option(item) for key, item in value.items()}
        case list():
            return [from_option(item) for item in value]
    return value


def _made(path: str, entry: dict[str, Any]) -> Any:
    maker = locate(path)
    args = from_option(entry.get("_args_", []))
    if not callable(maker) or not isinstance(args, list):
        raise TargetError(f"expected a class or function for `_target_` and a list for `_args_`, got {entry}")
    kwargs = {key: from_option(item) for key, item in entry.items() if key not in ("_target_", "_args_")}
    with user_code(f"making a {path}"):
        return maker(*args, **kwargs)
