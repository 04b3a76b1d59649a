"""Settings that torch has no public function or only a slow one for; as `internals`, to look at with a new torch."""

# ruff: noqa: SLF001
from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import torch
from torch.distributions import Distribution

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["PRIVATE_SETTINGS"]

_GENERAL_TO_SPECIAL = (
    ("generic", "all"),
    *((backend, operation) for backend in ("cuda", "mkldnn") for operation in ("all", "matmul", "conv", "rnn")),
)


def _precisions() -> list[Any]:
    """Precisions of float32 by the new names (since torch 2.9), and by the old ones, which the new ones may forbid."""
    return [read() for read, _ in _PRECISIONS]


def _set_precisions(before: list[Any]) -> None:
    for _ in range(2):  # the old names can be read again only when the new ones are back, and change those
        for was, (read, write) in zip(before, _PRECISIONS, strict=True):
            if was is not None and read() != was:
                write(was)


def _unless_forbidden(read: Callable[[], Any]) -> Any:
    try:
        return read()
    except RuntimeError:
        return None


_of_new_name: Any = getattr(torch._C, "_get_fp32_precision_getter", None)
_PRECISIONS: list[tuple[Callable[[], Any], Callable[[Any], Any]]] = [
    (functools.partial(_of_new_name, *names), functools.partial(torch._C._set_fp32_precision_setter, *names))
    for names in (_GENERAL_TO_SPECIAL if _of_new_name else ())
] + [
    (functools.partial(_unless_forbidden, getattr(torch._C, f"_get_{name}")), getattr(torch._C, f"_set_{name}"))
    for name in ("float32_matmul_precision", "cublas_allow_tf32", "cudnn_allow_tf32")
]


def _flag(name: str) -> list[tuple[Callable[[], Any], Callable[[Any], Any]]]:
    """How to read and to write one of torch's flags; nothing where this torch has no such flag."""
    read, write = getattr(torch._C, f"_get_{name}", None), getattr(torch._C, f"_set_{name}", None)
    if read is None or write is None:
        return []
    return [(read, lambda was: write(*was) if isinstance(was, tuple) else write(was))]


def _saved_tensors_hooks() -> Any:
    top: Any = getattr(torch._C._autograd, "_top_saved_tensors_default_hooks", None)
    return top(True) if top else None  # older versions of torch do not tell  # noqa: FBT003 - it takes no keyword


def _leave_saved_tensors_hooks(before: Any) -> None:
    while (top := _saved_tensors_hooks()) is not None and top != before:
        torch._C._autograd._pop_saved_tensors_default_hooks()


def _allow_saved_tensors_hooks(message: str | None) -> None:
    if message is None:
        torch._C._autograd._saved_tensors_hooks_enable()
    else:
        torch._C._autograd._saved_tensors_hooks_disable(message)


def _print_options() -> dict[str, Any]:
    return vars(torch._tensor_str.PRINT_OPTS).copy()


PRIVATE_SETTINGS: tuple[tuple[Callable[[], Any], Callable[[Any], Any]], ...] = (
    *_flag("cudnn_enabled"),
    *_flag("cudnn_benchmark"),
    *_flag("cudnn_deterministic"),
    *_flag("cublas_allow_fp16_reduced_precision_reduction"),
    *_flag("cublas_allow_bf16_reduced_precision_reduction"),
    *_flag("cublas_allow_fp16_accumulation"),
    *_flag("mkldnn_enabled"),
    *_flag("mkldnn_deterministic"),
    (_precisions, _set_precisions),
    (torch._C._check_sparse_tensor_invariants, torch._C._set_check_sparse_tensor_invariants),
    (torch._C._is_multithreading_enabled, torch._C._set_multithreading_enabled),
    (torch._C._is_view_replay_enabled, torch._C._set_view_replay_enabled),
    (_saved_tensors_hooks, _leave_saved_tensors_hooks),
    (torch._C._autograd._saved_tensors_hooks_get_disabled_error_message, _allow_saved_tensors_hooks),
    (lambda: Distribution._validate_args, Distribution.set_default_validate_args),
    (_print_options, vars(torch._tensor_str.PRINT_OPTS).update),
)
"""How to read and how to write them."""
