"""Private names of torch that the tracer uses: look here, and at `patches.patch_table`, if a new torch breaks it."""

# ruff: noqa: SLF001
from __future__ import annotations

import functools
from contextlib import contextmanager
from operator import attrgetter
from types import BuiltinFunctionType, FunctionType, MappingProxyType, MethodDescriptorType, NoneType
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensor

from modeldiagrams.common.class_facts import list_bases, name_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

Operator: Any = torch._ops.OpOverload
"""One operator: ``torch.ops.aten.add.Tensor``."""
OperatorPacket: Any = torch._ops.OpOverloadPacket
"""Operators of one name: ``torch.ops.aten.add``."""
CachedFunction: Any = functools._lru_cache_wrapper
ScriptFunction: Any = torch._C.ScriptFunction
PLAIN_TENSORS = frozenset({Tensor, nn.Parameter, FakeTensor})
"""The classes of nearly all tensors; they override nothing."""
PLAIN_VALUES = frozenset({str, int, float, bool, NoneType, torch.dtype, torch.device})
"""Classes of values that hold no other values."""
FunctionBase: Any = torch._C._FunctionBase
FunctionMeta: Any = torch.autograd.function.FunctionMeta
COMPILED_CLASS_METHOD: Any = type(FunctionBase.__dict__["apply"])
APPLY_IS_COMPILED = isinstance(torch.autograd.Function.__dict__["apply"], COMPILED_CLASS_METHOD)
"""From torch 2.14 on, ``Cube.apply`` runs no Python code of torch before ``Cube.forward``."""
SingleLevelFunction: Any = torch.autograd.function._SingleLevelFunction
UninitializedTensor: Any = nn.parameter.UninitializedTensorMixin  # type: ignore[attr-defined]
CALL_IMPLEMENTATION: Any = nn.Module._call_impl
"""What ``module(…)`` runs: its hooks and its forward."""
_GLOBAL_HOOKS = [
    getattr(nn.modules.module, f"_global_{kind}_hooks")
    for kind in ("backward", "backward_pre", "forward", "forward_pre")
]
_jit: Any = torch.jit._trace
_set_tracing_state: Any = torch._C._set_tracing_state  # type: ignore[attr-defined]
_BOOKKEEPING = frozenset(vars(nn.Module()))
"""Attributes that every module has: parameters, buffers, hooks."""
unseen_by_modes: Any = torch._C.DisableTorchFunction
"""Context in which no function mode sees torch functions."""

HIGHER_ORDER_OPERATORS: list[Any] = (
    []
    if hasattr(torch.utils._python_dispatch.TorchDispatchMode, "supports_higher_order_operators")
    else list(torch._ops._higher_order_ops.values())
)
"""Operators that accept only modes of known classes; none since torch 2.9."""

_BUILT_IN = (BuiltinFunctionType, MethodDescriptorType)
_NOTHING: Mapping[str, Any] = MappingProxyType({})
_VERSION: Any = attrgetter("_version")
NO_MEMORY = (RuntimeError, ValueError, NotImplementedError)  # sparse, lazy, functorch's wrappers, other subclasses


def storage_of(tensor: Tensor) -> Any:
    """A tensor's memory, the same object as long as any tensor uses it; None if the tensor has none of its own."""
    try:
        return tensor.untyped_storage()
    except NO_MEMORY:
        return None


def memory_key(tensor: Tensor) -> int | None:
    """An identifier of a tensor's memory, unique while the memory is in use."""
    storage = storage_of(tensor)
    return None if storage is None else id(storage)


def version_of(tensor: Tensor) -> int | None:
    """How often a tensor's memory was written; None if torch doesn't count (inference mode)."""
    try:
        return tensor._version
    except RuntimeError:
        return None


def versions_of(tensors: Sequence[Tensor]) -> list[int | None]:
    """The write counter of each tensor."""
    try:
        return list(map(_VERSION, tensors))
    except RuntimeError:
        return [version_of(tensor) for tensor in tensors]


def set_version(tensor: Tensor, version: int | None) -> None:
    """Reset the write counter, so that an unfinished backward pass still runs."""
    if version is None:
        return
    set_counter: Any = torch._C._autograd._unsafe_set_version_counter
    try:
        set_counter((tensor,), (version,))
    except TypeError:  # before torch 2.7
        set_counter(tensor, version)


def default_device() -> torch.device | None:
    """The device that was set for new tensors; None if none was set."""
    context = getattr(torch._GLOBAL_DEVICE_CONTEXT, "device_context", None)
    return None if context is None else context.device


def set_default_device(device: torch.device | None) -> None:
    """Set the device for new tensors; None unsets it."""
    torch.set_default_device(device)
    if device is None:
        del torch._GLOBAL_DEVICE_CONTEXT.device_context  # `torch.get_default_device` before torch 2.10 fails on None


MODES: Any = (
    (torch.overrides.TorchFunctionMode, torch.overrides._get_current_function_mode_stack),
    (torch.utils._python_dispatch.TorchDispatchMode, torch.utils._python_dispatch._get_current_dispatch_mode_stack),
)
"""Each kind of mode, and a function that lists its active modes on this thread, the outermost first."""
no_dispatch_modes: Any = torch.utils._python_dispatch._disable_current_modes
"""Context in which no dispatch mode sees operators."""
n_dispatch_modes: Any = torch._C._len_torch_dispatch_stack
pop_dispatch_mode: Any = torch._C._pop_torch_dispatch_stack
"""Called with None, pops the innermost mode; a context manager takes ten times as long."""
push_dispatch_mode: Any = torch._C._push_on_torch_dispatch_stack
has_function_mode: Any = torch.overrides._is_torch_function_mode_enabled  # type: ignore[attr-defined]
pop_function_mode: Any = torch._C._pop_torch_function_stack
push_function_mode: Any = torch._C._push_on_torch_function_stack

is_wrapped: Any = torch._C._functorch.is_functorch_wrapped_tensor
"""Whether a tensor is a wrapper of vmap, grad or jvp."""
wraps_now: Any = torch._C._functorch.peek_interpreter_stack
"""The innermost running vmap, grad or jvp; without one (None), new tensors are not wrapped."""


def without_wrappers(tensor: Tensor) -> Tensor:
    """The plain tensor inside all wrappers."""
    get_unwrapped: Any = torch._C._functorch.get_unwrapped
    while is_wrapped(tensor):
        tensor = get_unwrapped(tensor)
    return tensor


def parts_of(tensor: Tensor) -> list[Tensor]:
    """The tensors inside a tensor of a wrapper class, such as a nested one."""
    if hasattr(type(tensor), "__tensor_flatten__"):
        names, _ = tensor.__tensor_flatten__()  # type: ignore[attr-defined]
        held = [getattr(tensor, name) for name in names]  # of a distributed tensor, its mesh too
    else:
        held = list(vars(tensor).values()) if _has_no_data(tensor) else []
    return [each for each in held if isinstance(each, Tensor)]


def stored_bytes(tensor: Tensor) -> int | None:
    """The bytes of a tensor whose class stores it with other dtypes than it shows; None for other tensors."""
    if type(tensor) in PLAIN_TENSORS:
        return None
    parts, plain = parts_of(tensor), []
    while parts:
        part = parts.pop()
        inner = [] if type(part) in PLAIN_TENSORS else parts_of(part)
        parts += inner
        plain += [] if inner else [part]
    if all(part.dtype is tensor.dtype for part in plain):
        return None
    return sum(part.numel() * part.element_size() for part in plain)


def unpack_weights(held: Any) -> dict[str, Tensor]:
    """The weight and the bias in an object of C++, as the quantised layers of `torch.ao` have; empty for others."""
    try:
        found = dict(zip(("weight", "bias"), held.unpack(), strict=True))
    except (AttributeError, RuntimeError, TypeError, ValueError):
        return {}
    return {name: tensor.detach() for name, tensor in found.items() if isinstance(tensor, Tensor)}


def _has_no_data(tensor: Tensor) -> bool:
    """Whether a tensor only wraps others."""
    try:
        tensor.untyped_storage().data_ptr()
    except NO_MEMORY:
        return True
    return False


def alias_of(tensor: Tensor) -> Tensor:
    """Another tensor object with the same content."""
    try:
        with torch._C.DisableTorchFunction():
            alias: Tensor = tensor[...]  # the fastest way to the operator `aten::alias`
    except NO_MEMORY:
        return tensor
    return alias


def modules_of(model: Any) -> list[tuple[str, nn.Module]]:
    """Every module of a model under each of its paths, outer modules first; empty for other callables.

    Like ``named_modules(remove_duplicate=False)``, but four times faster, and finite if a module holds itself.
    """
    if not isinstance(model, nn.Module):
        return []
    found = [("", model)]
    open_ = [("", model, iter(own_modules(model).items()))]  # modules may be nested too deep for recursion
    around = {id(model)}
    while open_:
        prefix, module, items = open_[-1]
        for name, inner in items:
            path = prefix + name
            found.append((path, inner))
            if inner._modules and id(inner) not in around:
                around.add(id(inner))
                open_.append((f"{path}.", inner, iter(own_modules(inner).items())))
                break
        else:
            around.discard(id(module))
            open_.pop()
    return found


@contextmanager
def sizes_as_numbers() -> Iterator[None]:
    """Make sizes numbers in the block, even while `torch.jit.trace` runs, which makes them tensors."""
    state = torch._C._get_tracing_state()
    _set_tracing_state(None)
    try:
        yield
    finally:
        _set_tracing_state(state)


def has_hooks(module: nn.Module) -> bool:
    """Whether ``module(…)`` does more than call its forward: hooks, or scopes noted for `torch.jit.trace`."""
    own = module._backward_hooks or module._backward_pre_hooks or module._forward_hooks or module._forward_pre_hooks
    return bool(own) or any(_GLOBAL_HOOKS) or _jit._trace_module_map is not None


def classes_of(modules: Sequence[tuple[str, nn.Module]]) -> list[type]:
    """The classes of modules and all their bases, each once."""
    kinds = dict.fromkeys([type(module) for _, module in modules])
    return list(dict.fromkeys(base for kind in kinds for base in list_bases(kind)))


def class_of(module: Any) -> type:
    """A module's class; for a module under FSDP, which changes it, the class it had before."""
    made, *bases = list_bases(type(module))
    return bases[1] if name_of(bases[0]) == "FSDPModule" else made


def own_modules(module: nn.Module) -> Mapping[str, nn.Module]:
    """The modules a module holds itself."""
    return _drop_none(module._modules) if module._modules else _NOTHING


def own_parameters(module: nn.Module) -> Mapping[str, Tensor]:
    """The parameters a module holds itself."""
    return _drop_none(module._parameters) if module._parameters else _NOTHING


def own_buffers(module: nn.Module) -> Mapping[str, Tensor]:
    """The buffers a module holds itself."""
    return _drop_none(module._buffers) if module._buffers else _NOTHING


def own_attributes(module: nn.Module) -> Sequence[tuple[str, Any]]:
    """The attributes of a module that may hold tensors or objects, without those that every module has."""
    return [
        (name, held)
        for name, held in vars(module).items()
        if name not in _BOOKKEEPING
        and type(held) not in PLAIN_VALUES
        and not (type(held) is tuple and PLAIN_VALUES.issuperset(map(type, held)))
    ]


def not_persistent(module: nn.Module) -> set[str]:
    """Names of the buffers that a module leaves out of its state dict."""
    return module._non_persistent_buffers_set


def _drop_none(held: Mapping[str, Any]) -> Mapping[str, Any]:
    """Leave out values that are None; most dicts have none."""
    if NoneType not in map(type, held.values()):
        return held
    return {name: value for name, value in held.items() if value is not None}


def is_torchs(function: Any) -> bool:
    """Whether this is one of torch's own functions, which live as long as the process."""
    if isinstance(function, _BUILT_IN):
        return True
    is_written_there = type(function) is FunctionType and str(function.__module__).startswith("torch.")
    return is_written_there and "<locals>" not in function.__qualname__


def chosen_by_flag(function: Any) -> Any:
    """The function that another one calls by default, depending on a flag such as ``return_indices``; else itself.

    `torch.nn.functional.max_pool2d`, for instance, has no signature of its own.
    """
    while (choice := torch._jit_internal.boolean_dispatched.get(function)) is not None:
        function = choice["if_false"]
    return function


def schema_of(operator: Any) -> Any:
    """An operator's schema: ``name`` (``aten::add``), ``arguments``, ``is_mutable``."""
    return operator._schema


def schemas_named(name: str) -> Sequence[Any]:
    """The schemas of all operators of a name such as ``aten::add``."""
    return torch._C._jit_get_schemas_for_operator(name)


def is_one_kernel(function: Any) -> bool:
    """Whether a built-in function runs a single operator of its name, which doesn't decompose into others."""
    if not isinstance(function, _BUILT_IN):
        return False
    schemas = schemas_named(f"aten::{function.__name__}")
    names = [f"{schema.name}.{schema.overload_name}".rstrip(".") for schema in schemas]
    kernels = list(filter(torch._C._dispatch_has_kernel, names))  # some exist only in TorchScript
    has_kernel: Any = torch._C._dispatch_has_kernel_for_dispatch_key
    return bool(kernels) and not any(has_kernel(name, "CompositeImplicitAutograd") for name in kernels)
