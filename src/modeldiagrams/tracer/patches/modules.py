"""Recording calls of modules, through ``__call__`` or directly through ``forward``."""

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


def recorded_call(calls: CallStack, original: Callable[..., Any]) -> Callable[..., Any]:
    """``module(...)``."""
    recorder = calls.recorder

    @functools.wraps(original)
    def call(self: nn.Module, *args: Any, **kwargs: Any) -> Any:
        context = recorder.threads.context
        if context.observed and isinstance(self, torch.fx.GraphModule) and not calls.knows(self):
            return original(self, *args, **kwargs)  # made by torch for the branches of a higher-order operator
        if context.is_recording:
            return calls.run(context, self, original, args, kwargs, sys._getframe(1))
        if not calls.knows(self):
            return original(self, *args, **kwargs)
        with recorder.entered(context):  # on a thread from before the trace
            return calls.run(context, self, original, args, kwargs, sys._getframe(1))

    return call


def recorded_forward(calls: CallStack, original: Callable[..., Any]) -> Callable[..., Any]:
    """``module.forward(...)``."""
    recorder = calls.recorder

    @functools.wraps(original)
    def forward(self: nn.Module, *args: Any, **kwargs: Any) -> Any:
        context = recorder.threads.context
        if not context.is_recording:
            return original(self, *args, **kwargs)
        top = context.stack[-1]
        # the same module on top: its own forward, reached through __call__, or its base class's through super()
        if top.module is self and top.forward is not original:
            top.forward = top.forward or original
            return original(self, *args, **kwargs)
        return calls.run(context, self, original, args, kwargs, sys._getframe(1), original)

    calls.recorded_forward = forward.__code__  # type: ignore[attr-defined]
    return forward


def hidden_initialisation(calls: CallStack, original: Callable[..., Any]) -> Callable[..., Any]:
    """What a lazy module runs once, before its first forward; nothing of it is recorded."""

    @functools.wraps(original)
    def initialize_parameters(self: nn.Module, *args: Any, **kwargs: Any) -> None:
        with calls.recorder.hidden(), no_dispatch_modes():  # weights can't be materialised as fakes
            original(self, *args, **kwargs)
            calls.on_lazy_initialised(self)

    return initialize_parameters


def entered_scope(calls: CallStack, original: Callable[..., Any]) -> Callable[..., Any]:
    """``with record_function("name")``: a name for what runs inside."""
    recorder = calls.recorder

    @functools.wraps(original)
    def enter(self: Any) -> Any:
        context = recorder.context
        if context.is_recording:
            line = recorder.finder.current_line(context.stack, context.scopes)
            vars(self).setdefault(_ENTERED, []).append(context.scopes.enter(str(self.name), line))
        return original(self)

    return enter


def left_scope(calls: CallStack, original: Callable[..., Any]) -> Callable[..., Any]:
    """The end of it."""

    @functools.wraps(original)
    def leave(self: Any, *error: Any) -> Any:
        if entered := vars(self).get(_ENTERED):
            calls.recorder.context.scopes.exit(entered.pop())
            if not entered:
                del vars(self)[_ENTERED]
        return original(self, *error)

    return leave
