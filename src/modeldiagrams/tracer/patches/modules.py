"""Wrappers that record module calls, made through ``__call__`` or directly through ``forward``."""

# ruff: noqa: SLF001 - `sys._getframe`, see `SourceFinder`
from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any

import torch

from modeldiagrams.tracer.torch_facts.private_api import no_dispatch_modes

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import nn

    from modeldiagrams.tracer.recording.module_calls import CallStack


_ENTERED = "_modeldiagrams_scopes"
"""Attribute of a `record_function` that is running: its scopes."""


def wrap_call(calls: CallStack, original: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap what ``module(...)`` runs."""
    recorder = calls.recorder

    @functools.wraps(original)
    def call(self: nn.Module, *args: Any, **kwargs: Any) -> Any:
        context = recorder.threads.context
        if context.observed and isinstance(self, torch.fx.GraphModule) and not calls.knows(self):
            return original(self, *args, **kwargs)  # torch makes these for the branches of a higher-order operator
        if context.is_recording:
            return calls.run(context, self, original, args, kwargs, sys._getframe(1))
        if not calls.knows(self):
            return original(self, *args, **kwargs)
        with recorder.record_thread(context):  # a thread from before the trace
            return calls.run(context, self, original, args, kwargs, sys._getframe(1))

    return call


def wrap_forward(calls: CallStack, original: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap the ``forward`` of a class."""
    recorder = calls.recorder

    @functools.wraps(original)
    def forward(self: nn.Module, *args: Any, **kwargs: Any) -> Any:
        context = recorder.threads.context
        if not context.is_recording:
            return original(self, *args, **kwargs)
        top = context.stack[-1]
        # this module's call is on top: its own forward, called by __call__, or that of its base, called by super()
        if top.module is self and top.forward is not original:
            top.forward = top.forward or original
            return original(self, *args, **kwargs)
        return calls.run(context, self, original, args, kwargs, sys._getframe(1), original)

    calls.recorded_forward = forward.__code__  # type: ignore[attr-defined]
    return forward


def wrap_initialisation(calls: CallStack, original: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap what a lazy module runs once, before its first forward, so that nothing of it is recorded."""

    @functools.wraps(original)
    def initialize_parameters(self: nn.Module, *args: Any, **kwargs: Any) -> None:
        with calls.recorder.hide_ops(), no_dispatch_modes():  # weights can't be materialised as fakes
            original(self, *args, **kwargs)
            calls.on_lazy_initialised(self)

    return initialize_parameters


def wrap_scope_start(calls: CallStack, original: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap the start of ``with record_function("name")``, which names the ops inside."""
    recorder = calls.recorder

    @functools.wraps(original)
    def enter(self: Any) -> Any:
        if recorder.context.is_recording:
            vars(self).setdefault(_ENTERED, []).append(recorder.begin_scope(str(self.name)))
        return original(self)

    return enter


def wrap_scope_end(calls: CallStack, original: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap the end of ``with record_function("name")``."""

    @functools.wraps(original)
    def leave(self: Any, *error: Any) -> Any:
        if entered := vars(self).get(_ENTERED):
            calls.recorder.context.scopes.exit(entered.pop())
            if not entered:
                del vars(self)[_ENTERED]
        return original(self, *error)

    return leave
