"""The option `dims`: names of the sizes of inputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from modeldiagrams.errors import ModelDiagramsError, OptionError
from modeldiagrams.ir.expressions import NAME, parse_expression
from modeldiagrams.options.reading import read_yaml

__all__ = ["OFF", "read_dims"]

OFF: Literal["off"] = "off"


def read_dims(value: Any) -> Any:
    """Read a map from inputs to the names of their sizes, or the word `off`.

    Raises:
        OptionError: for what is neither, a name that is none, and an expression that is none.
    """
    value = read_yaml(value) if isinstance(value, str) else value
    if value is None or value is False or value == OFF:  # `off` is False in YAML
        return OFF if value is False else value
    if not isinstance(value, Mapping):
        raise OptionError("dims", f"expected a map, `{{x: [B, 3, H, W]}}`, or `{OFF}`, and it is {value!r}.")
    return {str(name): _read_sizes(str(name), sizes) for name, sizes in value.items()}


def _read_sizes(name: str, sizes: Any) -> Any:
    if isinstance(sizes, str):
        try:
            parse_expression(sizes)
        except ModelDiagramsError as error:
            raise OptionError(
                "dims", f"{name}: expected a list, `[B, T]`, or an expression of sizes, `H*W/256`, and it is {sizes!r}."
            ) from error
        return sizes
    if not isinstance(sizes, list | tuple):
        raise OptionError("dims", f"{name}: expected a list of names and numbers, `[B, 3, H, W]`, and it is {sizes!r}.")
    for size in sizes:
        is_number = isinstance(size, int) and not isinstance(size, bool) and size >= 0
        if not is_number and not (isinstance(size, str) and NAME.fullmatch(size)):
            raise OptionError(
                "dims", f"{name}: expected a name, `T`, or a number for each dimension, and one is {size!r}."
            )
    return [*sizes]
