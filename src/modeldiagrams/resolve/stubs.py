"""Objects and modules for arguments that plain data cannot describe; diagrams show these paths."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import nn

__all__ = ["AttributeDict", "with_attributes"]


class AttributeDict(dict[str, Any]):
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


def with_attributes(module: nn.Module, **attributes: Any) -> nn.Module:
    """A module with more attributes than its class has, for models that read sizes from a part.

    Args:
        module: The module; it is changed.
        attributes: By name.
    """
    for name, value in attributes.items():
        setattr(module, name, value)
    return module
