"""Names in code, by what torch, Python and libraries mean by them."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


SIZES = _words("shape size dim ndim ndimension numel nelement")
PROPERTIES = _words("dtype device layout requires_grad is_cuda is_sparse is_quantized is_nested is_meta")
FACTS = (
    SIZES
    | PROPERTIES
    | _words("""
    stride names is_leaf requires_grad_ grad_fn itemsize nbytes element_size get_device data_ptr storage_offset
    is_contiguous is_floating_point is_complex has_names register_hook retain_grad""")
)
"""Attributes and methods of tensors that run nothing."""
VIEWS = _words("T mT H mH real imag")
NO_OPS = ("is_", "get_", "set_", "has_", "manual_seed", "seed", "_check", "check_", "finfo", "iinfo")
"""Beginnings of names of torch's functions that run nothing."""
OF_CONTAINERS = _words("""
    append extend insert pop remove clear items keys values get setdefault popitem add discard index copy count split
    join format strip lower upper startswith endswith replace""")
"""Methods of lists, dicts, sets and texts."""
OF_LOGGERS = _words("debug info warning warn error exception critical log warning_once info_once")
GATHER = _words("zip enumerate list tuple sorted reversed dict set map filter iter next")
READ = _words("float int bool sum min max abs pow divmod round")
ABOUT = _words("isinstance issubclass type hasattr getattr callable id len is_tensor")
"""Functions that tell what an argument is, not what it holds."""
MODES = _words("is_grad_enabled is_inference_mode_enabled is_inference")
NEVER = _words("is_tracing is_scripting is_compiling is_exporting is_torchdynamo_compiling")
"""Functions that are false in every pass of the tracer."""
