"""Decides what counts as an op, and describes its name and arguments.

**The rule**: a call is an op if it returns a tensor, writes one, or hands values to Python or numpy (`VALUE_READS`).
Reading a shape, dtype or device is not an op; these calls are skipped by name (`METADATA`), which is faster than
looking at their results. The tables list facts that no schema or signature of torch gives.
"""

from __future__ import annotations

import functools
import math
import numbers
import re
from dataclasses import dataclass, field
from types import BuiltinFunctionType, MethodDescriptorType
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.overrides import resolve_name

from modeldiagrams.tracer.torch_facts.flops import CallFormula, call_formula
from modeldiagrams.tracer.torch_facts.private_api import Operator, OperatorPacket, is_torchs, schema_of, schemas_named

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

VALUE_READS = frozenset(
    {"item", "tolist", "numpy", "equal", "allclose", "is_nonzero"}
    | {"__array__", "__bool__", "__complex__", "__contains__", "__float__", "__index__", "__int__", "__dlpack__"}
)
"""Functions that hand values to Python or numpy: ops although they return no tensor."""

ARRAY_READS = frozenset({"item", "tolist", "numpy", "__array__", "__dlpack__", "__float__", "__int__"})
"""The functions among `VALUE_READS` whose values may come back as a tensor."""

FROM_PYTHON = frozenset({"tensor", "as_tensor", "asarray", "from_numpy", "frombuffer", "scalar_tensor", "Tensor"})
"""Functions that make a tensor from Python or numpy values, which may have left torch before."""

SHAPE_ONLY: Mapping[str, int] = {
    **dict.fromkeys(
        ("empty_like", "full_like", "ones_like", "rand_like", "randint_like", "randn_like", "zeros_like"), 0
    ),
    **dict.fromkeys(("new_empty", "new_empty_strided", "new_full", "new_ones", "new_tensor", "new_zeros"), 0),
    **dict.fromkeys(("expand_as", "reshape_as", "to", "type_as", "view_as"), 1),
    **dict.fromkeys(("_foreach_copy_", "_foreach_zero_", "copy_", "fill_", "zero_"), 0),
    **dict.fromkeys(("bernoulli_", "cauchy_", "exponential_", "geometric_", "log_normal_", "normal_", "random_"), 0),
    "uniform_": 0,
}
"""Functions that read only shape, dtype or device of the argument at this position, or overwrite it."""

METADATA = frozenset(
    {"__delete__", "__format__", "__hash__", "__len__", "__repr__", "__str__"}
    | {"backward", "broadcast_shapes", "data_ptr", "dim", "dim_order", "element_size", "get_device", "has_names"}
    | {"is_complex", "is_conj", "is_contiguous", "is_floating_point", "is_inference", "is_neg", "is_pinned"}
    | {"is_same_size", "is_set_to", "is_shared", "is_signed", "is_tensor", "ndimension", "nelement", "numel"}
    | {"register_hook", "register_post_accumulate_grad_hook", "requires_grad_", "result_type", "retain_grad"}
    | {"set_grad_enabled", "_set_grad_enabled", "size", "storage", "storage_offset", "stride", "untyped_storage"}
    | {"_is_view", "_has_compatible_shallow_copy_type"}
)
"""Functions that are never ops: they read properties of a tensor, register hooks, or set modes."""

_PUBLIC = {
    "torch.functional.": "torch.",
    "torch._C._sparse._sparse_": "torch.sparse.",
    "torch._C._sparse.sparse_": "torch.sparse.",
    "torch._C._nested.nested_": "torch.nested.",
    "torch._nested_tensor_from_tensor_list": "torch.nested.as_nested_tensor",
    "torch.spmm": "torch.mm",
}
"""Private names and namespaces → public ones; `torch.spmm` is another name of `torch.mm`."""
_TENSOR_PROPERTIES = frozenset({"H", "T", "data", "grad", "imag", "mH", "mT", "real"})
_BUILT_IN = (BuiltinFunctionType, MethodDescriptorType)
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_RAGGED = re.compile(r"\bj\d+")
ragged_names: dict[str, str] = {}
"""Torch's name of a ragged size, numbered over the whole process → ours, from ``j0`` on in every trace."""
_MAX_ITEMS = 32
_MAX_TEXT = 200
_MAX_NESTING = 4


@dataclass(slots=True, eq=False)
class Function:
    """Facts about a torch function."""

    name: str
    """Public name: ``torch.nn.functional.linear``, ``torch.Tensor.view``, ``mylib::my_op``."""
    short: str
    """Last part of the name, for ids."""
    raw: str
    """Its ``__name__``."""
    is_metadata: bool = False
    writes_first: bool = False
    """It writes its first argument: ``add_``, ``__setitem__``, ``x.data = …``."""
    writes_any: bool = False
    """It may write any of its arguments."""
    opaque: bool = False
    pure: bool = False
    """By its schemas, it writes no argument except ``out``."""
    formula: CallFormula | None = None
    """The cost of a call; None if its operators must be counted."""
    replaces: bool = field(init=False)
    """It gives a tensor other memory: ``x.data = …``, ``x.set_(…)``."""
    reads_values: bool = field(init=False)
    """It hands values to Python or numpy."""
    reads_arrays: bool = field(init=False)
    """The values may come back as a tensor."""
    is_special: bool = field(init=False)
    """It is opaque, or its values may come back, or it reads more than its arguments (``x.grad``)."""
    is_plain: bool = field(init=False)
    """Its arguments and result say everything it does, unless it is called with ``out`` or similar."""
    takes_python_values: bool = field(init=False)
    """It makes a tensor from Python or numpy values."""

    def __post_init__(self) -> None:
        """Classify by name."""
        self.replaces = self.raw in ("__set__", "set_")
        self.reads_values = self.raw in VALUE_READS
        self.reads_arrays = self.raw in ARRAY_READS
        self.is_special = self.opaque or self.reads_arrays or (self.short == "grad" and self.raw == "__get__")
        self.is_plain = self.pure and not (self.writes_first or self.is_special)
        self.takes_python_values = self.raw in FROM_PYTHON


def describe_function(function: Callable[..., Any]) -> Function:
    """Name and classify a function that a function mode received."""
    return _described(function) if is_torchs(function) else _describe(function)


def _describe(function: Callable[..., Any]) -> Function:
    raw = getattr(function, "__name__", type(function).__name__)
    if isinstance(function, Operator | OperatorPacket):
        name = str(getattr(function, "overloadpacket", function)).replace(".", "::", 1)
        short = name.rpartition("::")[2]
        return Function(name, short, short, writes_first=short.endswith("_"), writes_any=_is_mutable(function))
    if raw in ("__get__", "__set__"):
        return _describe_property(function, raw)
    name = _public_name(function, raw)
    short = name.rpartition(".")[2].strip("_") if raw.startswith("__") else name.rpartition(".")[2]
    return Function(
        name,
        short,
        raw,
        raw in METADATA,
        _writes_first(raw),
        _writes_several(function, raw),
        pure=_is_pure(function, raw),
        formula=call_formula(function, name, raw),
    )


def _writes_several(function: Any, raw: str) -> bool:
    """Whether a function may write arguments after the first one, or share memory with numpy."""
    if raw in ("numpy", "__array__"):
        return True
    if not isinstance(function, _BUILT_IN) or not raw.endswith("_"):
        return False
    return any(_is_written(argument) for schema in schemas_named(f"aten::{raw}") for argument in schema.arguments[1:])


_described = functools.lru_cache(maxsize=4096)(_describe)


def _is_pure(function: Any, raw: str) -> bool:
    """Whether, by its schemas, a built-in function writes none of its arguments.

    Schemas don't mention that running statistics are written.
    """
    if not isinstance(function, _BUILT_IN):
        return raw == "__getitem__"
    arguments = [argument for schema in schemas_named(f"aten::{raw}") for argument in schema.arguments]
    return bool(arguments) and not any(_is_written(argument) for argument in arguments)


def _is_written(argument: Any) -> bool:
    alias = argument.alias_info
    return (alias is not None and alias.is_write and not argument.is_out) or argument.name.startswith("running_")


def _is_mutable(operator: Any) -> bool:
    packet = isinstance(operator, OperatorPacket)
    overloads = [getattr(operator, name) for name in operator.overloads()] if packet else [operator]
    return any(schema_of(overload).is_mutable for overload in overloads)


def _describe_property(function: Any, raw: str) -> Function:
    attribute = getattr(getattr(function, "__self__", None), "__name__", "")
    is_write = raw == "__set__"
    is_metadata = attribute != "data" if is_write else attribute not in _TENSOR_PROPERTIES
    return Function(f"torch.Tensor.{attribute}", attribute, raw, is_metadata, is_write)


def _public_name(function: Callable[..., Any], raw: str) -> str:
    name = resolve_name(function)
    if name is None and getattr(torch, raw, None) is function:
        name = f"torch.{raw}"
    name = str(name or f"{getattr(function, '__module__', None) or 'torch'}.{raw}")
    written = next(filter(name.startswith, _PUBLIC), "")
    return _PUBLIC.get(written, "") + name.removeprefix(written)


def _writes_first(raw: str) -> bool:
    if raw.startswith("__"):
        return raw in ("__setitem__", "__set__") or (
            raw.startswith("__i") and raw not in ("__index__", "__int__", "__invert__")
        )
    return raw.endswith("_")


def without_addresses(text: str) -> str:
    """Remove memory addresses (``<Thing object at 0x7f3c…>``), which differ from run to run."""
    return _ADDRESS.sub("", text) if " at 0x" in text else text


def size_name(size: Any) -> str:
    """The name of a symbolic size, the same in every trace."""
    return _RAGGED.sub(lambda found: ragged_names.setdefault(found[0], f"j{len(ragged_names)}"), str(size))


def to_plain_data(value: Any, depth: int = 0) -> Any:  # noqa: PLR0911 (one return per kind)
    """Convert an argument to bounded, deterministic data for JSON.

    Long texts and lists are cut and end with ``…``. Dtypes, devices and non-finite numbers become strings. Other
    objects are shown by their class, because their text may contain addresses.
    """
    if value is None or isinstance(value, bool | int | str):
        return _plain_scalar(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else str(float(value))
    if isinstance(value, Tensor):
        return "tensor"
    if isinstance(value, list | tuple) and depth < _MAX_NESTING:
        items = [to_plain_data(item, depth + 1) for item in value[:_MAX_ITEMS]]
        return [*items, "…"] if len(value) > _MAX_ITEMS else items
    if isinstance(value, dict) and depth < _MAX_NESTING:
        return {str(key)[:_MAX_TEXT]: to_plain_data(item, depth + 1) for key, item in list(value.items())[:_MAX_ITEMS]}
    if isinstance(value, slice):
        return ":".join(
            "" if part is None else str(to_plain_data(part)) for part in (value.start, value.stop, value.step)
        )
    return _plain_object(value)


def _plain_scalar(value: str | int | None) -> Any:
    if isinstance(value, str):
        text = str.__str__(value)  # the value of an enum member
        return text if len(text) <= _MAX_TEXT else text[:_MAX_TEXT] + "…"
    if value is None or isinstance(value, bool):
        return value
    return int(value) if abs(value) < 2**63 else str(int(value))  # larger ones lose precision in JSON readers


def _plain_object(value: Any) -> Any:
    if isinstance(value, numbers.Real):  # of numpy
        return to_plain_data(int(value) if isinstance(value, numbers.Integral) else float(value))
    if isinstance(value, torch.dtype | torch.layout | torch.memory_format):
        return str(value).removeprefix("torch.")
    if isinstance(value, torch.device | complex | torch.SymInt | torch.SymFloat):
        return size_name(value)
    if value is Ellipsis:
        return "..."
    if callable(value) and hasattr(value, "__qualname__"):
        return str(value.__qualname__)
    return f"<{type(value).__name__}>"
