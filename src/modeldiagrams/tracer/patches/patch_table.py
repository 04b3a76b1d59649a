"""The table of everything that is replaced while a trace runs: look here first if a new torch breaks the tracer."""

from __future__ import annotations

import inspect
import logging
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.autograd.profiler import record_function
from torch.cuda import nvtx
from torch.nn.modules.lazy import LazyModuleMixin

from modeldiagrams.tracer.patches import fake_tensors, modules, nvtx_ranges, python_functions, threads, unseen_functions
from modeldiagrams.tracer.torch_facts import functions
from modeldiagrams.tracer.torch_facts.private_api import (
    APPLY_IS_COMPILED,
    HIGHER_ORDER_OPERATORS,
    FunctionBase,
    FunctionMeta,
    ScriptFunction,
    SingleLevelFunction,
    classes_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from modeldiagrams.tracer.patches.replace import Replacement
    from modeldiagrams.tracer.recording.module_calls import CallStack


def list_patches(
    calls: CallStack,
    model_modules: Sequence[tuple[str, nn.Module]],
    modes: Sequence[Any],
    before_backward: Callable[[], None],
) -> Iterator[Replacement]:
    """List all patches for a pass with these dispatch modes; call `before_backward` before a backward pass."""
    torch.overrides.resolve_name(torch.add)  # fills torch's tables of functions before they could keep replacements
    yield from _of_modules(calls, model_modules)
    yield from _of_torch(calls)
    yield threading.Thread, "start", threads.wrap_start(calls.recorder, threading.Thread.start)
    yield ThreadPoolExecutor, "submit", threads.wrap_submit(calls.recorder, ThreadPoolExecutor.submit)
    if any(isinstance(mode, FakeTensorMode) for mode in modes):
        yield from _of_fake_tensors()
    for operator in HIGHER_ORDER_OPERATORS:  # before torch 2.9 they refuse unknown modes
        for kind in {type(mode) for mode in modes} - operator.python_key_table.keys():
            yield operator.python_key_table, kind, unseen_functions.hand_to_mode(operator)
    name = "_engine_run_backward"  # adds to existing gradients in place
    yield torch.autograd, name, _announced(vars(torch.autograd)[name], before_backward)
    yield functions, "ragged_names", {}


def _of_modules(calls: CallStack, model_modules: Sequence[tuple[str, nn.Module]]) -> Iterator[Replacement]:
    # not `__call__`: replacing a special method of a class costs a walk through all its subclasses
    yield nn.Module, "_call_impl", modules.wrap_call(calls, vars(nn.Module)["_call_impl"])
    for class_ in classes_of(model_modules):
        if _defines(class_, nn.Module, "forward") and not issubclass(class_, torch.jit.ScriptModule):
            yield class_, "forward", modules.wrap_forward(calls, vars(class_)["forward"])
        if _defines(class_, LazyModuleMixin, name := "initialize_parameters"):
            yield class_, name, modules.wrap_initialisation(calls, vars(class_)[name])
    yield record_function, "__enter__", modules.wrap_scope_start(calls, record_function.__enter__)
    yield record_function, "__exit__", modules.wrap_scope_end(calls, record_function.__exit__)
    yield nvtx, "_nvtx", nvtx_ranges.RecordedRanges(calls.recorder, vars(nvtx)["_nvtx"])
    for _, module in model_modules:  # compiled in place by ``module.compile()``: run the original instead
        if vars(module).get("_compiled_call_impl") is not None:
            yield module, "_compiled_call_impl", None


def _defines(class_: type, base: type, name: str) -> bool:
    return issubclass(class_, base) and inspect.isfunction(vars(class_).get(name))


def _of_torch(calls: CallStack) -> Iterator[Replacement]:
    """Functions that modes don't see, or see only in many steps."""
    recorder, name = calls.recorder, "handle_torch_function"
    for module in (torch.nn.functional, torch.functional):
        yield module, name, python_functions.wrap_handler(recorder, vars(module)[name])
    apply = vars(torch.autograd.Function)["apply"]
    apply = getattr(apply, "__func__", apply)
    yield torch.autograd.Function, "apply", classmethod(unseen_functions.wrap_apply(recorder, apply))
    # calls of a `cube = Cube.apply` made before the trace still go through these
    if APPLY_IS_COMPILED:
        yield FunctionMeta, "__getattribute__", unseen_functions.wrap_forward_lookup(recorder)
    else:
        apply = vars(SingleLevelFunction).get("apply") or vars(FunctionBase)["apply"]
        yield SingleLevelFunction, "apply", classmethod(unseen_functions.wrap_apply(recorder, apply))
    yield ScriptFunction, "__call__", unseen_functions.wrap_script(recorder, ScriptFunction.__call__)
    yield Tensor, "__init__", unseen_functions.wrap_constructor(recorder)
    for name, argument in {"from_numpy": "ndarray", "frombuffer": "buffer", "from_dlpack": "ext_tensor"}.items():
        yield torch, name, unseen_functions.wrap_import(recorder, getattr(torch, name), argument)
    fsdp = sys.modules.get("torch.distributed.fsdp._fully_shard._fsdp_param_group")
    for name in ("lazy_init", "unshard", "wait_for_unshard", "reshard") if fsdp else ():
        gathers = fsdp.FSDPParamGroup  # type: ignore[union-attr]
        yield gathers, name, unseen_functions.wrap_gathering(recorder, vars(gathers)[name])
    nested, name = sys.modules.get("torch.nested._internal.nested_tensor"), "_nt_view_dummy"
    if hasattr(nested, name):  # makes and keeps a tensor for the first nested one
        yield nested, name, unseen_functions.wrap_hidden(recorder, getattr(nested, name))


def _of_fake_tensors() -> Iterator[Replacement]:
    """Make fake tensors behave like real ones where they differ."""
    # it reads all values in one call
    yield FakeTensor, "tolist", fake_tensors.wrap_tolist(FakeTensor.tolist)
    # an f-string shows a tensor of one element as its number
    yield FakeTensor, "__format__", fake_tensors.format_as_number
    # another library would crash on missing memory
    yield FakeTensor, "__dlpack__", fake_tensors.refuse_dlpack
    # `nn.Module.to` swaps fake tensor objects, which fails for tensors with weak references such as ours
    yield torch.utils, "swap_tensors", fake_tensors.assign_data
    # torch logs a traceback for every operator that fails on fakes; the graph reports it
    yield logging.getLogger("torch._subclasses.fake_tensor"), "disabled", True


def _announced(original: Callable[..., Any], announce: Callable[[], None]) -> Callable[..., Any]:
    def announced(*args: Any, **kwargs: Any) -> Any:
        announce()
        return original(*args, **kwargs)

    return announced
