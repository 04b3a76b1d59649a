"""Reads example inputs that a class declares (rule 2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, get_args

from torch import Tensor, nn

from modeldiagrams.resolve.code.forward import get_parameters
from modeldiagrams.resolve.code.parameter_annotations import get_annotations
from modeldiagrams.resolve.code.user_code import user_code
from modeldiagrams.resolve.names.candidates import Candidate
from modeldiagrams.resolve.values.input_entries import is_plain, write_entry
from modeldiagrams.resolve.values.input_values import call_for_inputs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = [
    "Example",
    "read_class_example",
    "read_dummy_inputs",
    "read_image_size",
    "read_resized_images",
    "read_weights_size",
]

_METHOD = "modeldiagrams_example"
_BASES = {"PreTrainedModel", "ModelMixin"}
"""Base classes of all models: their `dummy_inputs` fit models of text only."""
_SMALLEST = 32
"""A side of an image that somebody trains with."""


@dataclass(frozen=True)
class Example:
    """Example inputs."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    source: str
    """The attribute that holds them."""
    inputs_from: str | None = None
    """The option that asks for them, where there is one."""


def read_class_example(model: nn.Module, maker: Any, name: str) -> Example | None:
    """Inputs that the class, factory or model declares.

    First ``modeldiagrams_example()``, then Lightning's ``example_input_array``, attribute or property.

    Args:
        model: The model.
        maker: The instance, class or factory that the option `model` names.
        name: That option.

    Returns:
        The inputs; None if it declares none.

    Raises:
        TargetError: if making them raised.
    """
    if callable(_read(maker, _METHOD)):
        path = f"{name}.{_METHOD}"
        args, kwargs = call_for_inputs(path)
        return Example(args, kwargs, f"{_METHOD}()", inputs_from=path)
    value = _read(model, "example_input_array")
    if isinstance(value, Tensor | Mapping | tuple | list):
        return Example(*_arguments(value), "example_input_array")
    return None


def read_dummy_inputs(model: nn.Module) -> dict[str | int, Sequence[Candidate]]:
    """``dummy_inputs`` of `transformers` and `diffusers`; nothing if a base class defines them."""
    owner = next((class_ for class_ in type(model).__mro__ if "dummy_inputs" in vars(class_)), None)
    if owner is None or owner.__name__ in _BASES:
        return {}
    values = _read(model, "dummy_inputs")
    if not isinstance(values, Mapping):
        return {}
    entries = {str(name): write_entry(value) for name, value in values.items() if name in get_parameters(model.forward)}
    return {name: [Candidate(entry, "from dummy_inputs")] for name, entry in entries.items() if is_plain(entry)}


def read_image_size(model: nn.Module) -> dict[str | int, Sequence[Candidate]]:
    """An image of the size in ``default_cfg`` or ``pretrained_cfg``, as timm has them."""
    for attribute in ("pretrained_cfg", "default_cfg"):
        config = _read(model, attribute)
        size = config.get("input_size") if isinstance(config, Mapping) else getattr(config, "input_size", None)
        names = [*get_parameters(model.forward)]
        if isinstance(size, list | tuple) and size and all(isinstance(side, int) for side in size) and names:
            return {names[0]: [Candidate([1, *size], f"{attribute}['input_size'] is {list(size)}")]}
    return {}


def read_resized_images(model: nn.Module) -> dict[str | int, Sequence[Candidate]]:
    """A list of one image, for detectors that resize what they get in their `transform`, as torchvision has them."""
    transform = _read(model, "transform")
    means, names = getattr(transform, "image_mean", None), [*get_parameters(model.forward)]
    if not isinstance(means, list | tuple) or not hasattr(transform, "min_size") or not names:
        return {}
    reason = "one image, to which the model gives the size it wants"
    return {names[0]: [Candidate([[len(means), _SMALLEST, _SMALLEST]], reason)]}


def read_weights_size(model: nn.Module, maker: Any) -> dict[str | int, Sequence[Candidate]]:
    """An image or video of the size that the weights of a torchvision factory were trained with.

    Args:
        model: Its forward names the inputs.
        maker: The factory. Its parameter `weights` is annotated with an enumeration that tells of each its preparation.
    """
    weights = next(_enumerations(get_annotations(maker).get("weights")), None) if callable(maker) else None
    default = _read(weights, "DEFAULT") if weights else None
    prepared, meta = getattr(_read(default, "transforms"), "keywords", {}), _read(default, "meta")
    meta = meta if isinstance(meta, Mapping) else {}
    side = prepared.get("crop_size") or prepared.get("resize_size") or meta.get("min_size")
    sides = [side, side] if isinstance(side, int) else [*side] if isinstance(side, list | tuple) else []
    sides = sides * 2 if len(sides) == 1 else sides
    frames = meta.get("min_temporal_size")
    if len(sides) != len("hw") or not all(isinstance(each, int) and each >= _SMALLEST for each in sides):
        return {}
    shape = [1, 3, *([frames] if isinstance(frames, int) else []), *sides]
    names = [p.name for p in get_parameters(model.forward).values() if p.default is p.empty]
    reason = f"the size that {getattr(weights, '__name__', 'its weights')} are for"
    return {name: [Candidate(shape, reason)] for name in names}


def _enumerations(annotation: Any) -> Iterator[type[Enum]]:
    """The enumerations in an annotation: ``Weights | None``."""
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        yield annotation
    for part in get_args(annotation):
        yield from _enumerations(part)


def _read(owner: Any, name: str) -> Any:
    """An attribute; a property may raise anything."""
    class_ = owner if isinstance(owner, type) else type(owner)
    with user_code(f"reading {class_.__name__}.{name}"):
        return getattr(owner, name, None)


def _arguments(value: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """As Lightning reads them: a dict by name, a tuple by position, anything else is the one input."""
    if isinstance(value, Mapping):
        return (), {str(key): item for key, item in value.items()}
    return (tuple(value), {}) if isinstance(value, tuple) else ((value,), {})
