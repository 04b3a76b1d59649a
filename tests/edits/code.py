"""Edits of what a forward does: ops, residuals, new children, inputs, outputs."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from edits.modules import users
from edits.rewriting import on_return, parsed, replace_calls, rewrite, source_has
from edits.subject import Edited, InapplicableError, Line, Probe, Subject, choice, parent_of, paths, run

if TYPE_CHECKING:
    import random

DIMS = 4


def _rewritable(subject: Subject, *, same_shape: bool = False, root: bool = False) -> list[Probe]:
    """Modules with code of their own that return one tensor."""
    return [
        probe
        for probe in subject.probes.values()
        if probe.returned is not None
        and "forward" in vars(type(probe.module))
        and not type(probe.module).__module__.startswith("torch.nn")
        and list(probe.module.children())
        and (root or probe.path)
        and (not same_shape or probe.given == probe.returned)
        and all(other.returned is not None for other in subject.of(type(probe.module)))
    ]


def _on_return(subject: Subject, probe: Probe, text: str, *ids: str, **more: Any) -> Edited:
    class_ = type(probe.module)
    model = subject.copy()
    rewrite(model, class_, on_return(text))
    same = paths(subject.of(class_))
    if any(one.calls > 1 for one in subject.of(class_)):
        raise InapplicableError("called several times")
    return Edited(model, [Line(one, None, same) for one in ids], **more)


def op_added(subject: Subject, random_: random.Random) -> Edited:
    probe = choice(random_, _rewritable(subject))
    return _on_return(subject, probe, random_.choice(["torch.tanh(VALUE)", "VALUE * 0.5"]), "op-added")


def residual_added(subject: Subject, random_: random.Random) -> Edited:
    found = [
        probe
        for probe in _rewritable(subject, same_shape=True)
        if all(one.given == one.returned for one in subject.of(type(probe.module)))
    ]
    return _on_return(subject, choice(random_, found), "VALUE + FIRST", "residual-added")


def child_added(subject: Subject, random_: random.Random) -> Edited:
    probe = choice(random_, _rewritable(subject))
    text = "self.extra(VALUE)"
    edited = _on_return(subject, probe, text, "added")
    for one in subject.of(type(probe.module)):
        shape = one.returned or (1,)
        new = nn.GroupNorm(1, shape[1]) if len(shape) == DIMS else nn.LayerNorm(shape[-1])
        edited.model.get_submodule(one.path).extra = new.eval()
    edited.lines = [Line("added", frozenset(), paths(subject.of(type(probe.module)), "extra"))]
    return edited


def parameter_added(subject: Subject, random_: random.Random) -> Edited:
    probe = choice(random_, _rewritable(subject))
    edited = _on_return(subject, probe, "VALUE * self.gain", "weight-added", allowed="op-added")
    for one in subject.of(type(probe.module)):
        edited.model.get_submodule(one.path).gain = nn.Parameter(torch.ones((one.returned or (1,))[-1]))
    return edited


FUNCTIONS = {"relu": "gelu", "gelu": "silu", "silu": "relu", "tanh": "sigmoid", "sigmoid": "tanh", "softplus": "relu"}


def op_replaced(subject: Subject, random_: random.Random) -> Edited:
    def is_known(node: ast.AST) -> bool:
        return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in FUNCTIONS

    def is_of_torch(node: ast.Call) -> bool:
        function: Any = node.func
        return is_known(node) and "self" not in ast.unparse(function) and len(node.args) > 0

    found = [
        probe
        for probe in subject.probes.values()
        if not type(probe.module).__module__.startswith("torch")
        and source_has(type(probe.module), lambda node: isinstance(node, ast.Call) and is_of_torch(node))
    ]
    probe = choice(random_, found)

    def call(node: Any) -> Any:
        name = FUNCTIONS[node.func.attr]
        holder = "torch" if name in {"tanh", "sigmoid"} else "torch.nn.functional"
        new: Any = parsed(f"{holder}.{name}(x)")
        new.args = node.args[:1]
        return new

    class_ = type(probe.module)
    model = subject.copy()
    rewrite(model, class_, replace_calls(is_of_torch, call))
    same = paths(subject.of(class_))
    return Edited(model, [Line("op-replaced", same, same)])


def op_argument(subject: Subject, random_: random.Random) -> Edited:
    """Another number that something is multiplied with or divided by, as `x * 0.5`."""

    def is_scale(node: ast.AST) -> bool:
        is_op = isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Div))
        return is_op and isinstance(getattr(node, "right", None), ast.Constant)

    found = [
        probe
        for probe in subject.probes.values()
        if not type(probe.module).__module__.startswith("torch") and source_has(type(probe.module), is_scale)
    ]
    probe = choice(random_, found)

    def change(method: ast.FunctionDef) -> None:
        for node in ast.walk(method) if method.name == "forward" else []:
            if is_scale(node):
                node.right.value = 0.125  # type: ignore[attr-defined]

    class_ = type(probe.module)
    model = subject.copy()
    rewrite(model, class_, change)
    same = paths(subject.of(class_))
    return Edited(model, [Line("op-argument", same, same)])


def _root(subject: Subject) -> Probe:
    probe = subject.probes[""]
    if probe.returned is None or not isinstance(subject.inputs(), dict):
        raise InapplicableError("a root that returns no single tensor")
    return probe


def output_added(subject: Subject, _: random.Random) -> Edited:
    probe = _root(subject)
    model = subject.copy()
    rewrite(model, type(probe.module), on_return("(VALUE, FIRST)"))
    return Edited(model, [Line("output-added", None, None, 1)], allowed="output-renamed")


def input_renamed(subject: Subject, _: random.Random) -> Edited:
    probe = _root(subject)
    given = subject.inputs()
    old = next(iter(given))

    def change(method: ast.FunctionDef) -> None:
        if method.name != "forward":
            return
        for node in ast.walk(method):
            if isinstance(node, ast.arg) and node.arg == old:
                node.arg = "renamed_input"
            elif isinstance(node, ast.Name) and node.id == old:
                node.id = "renamed_input"

    model = subject.copy()
    rewrite(model, type(probe.module), change)
    inputs = {"renamed_input" if name == old else name: value for name, value in given.items()}
    return Edited(model, [Line("input-renamed", values=(old, "renamed_input"))], inputs=inputs)


def input_added(subject: Subject, _: random.Random) -> Edited:
    probe = _root(subject)

    def change(method: ast.FunctionDef) -> None:
        if method.name == "forward":
            on_return("VALUE + more")(method)
            method.args.args.append(ast.arg("more"))
            method.args.defaults.append(ast.Constant(None))

    model = subject.copy()
    rewrite(model, type(probe.module), change)
    inputs = {**subject.inputs(), "more": torch.ones(1)}
    run(model, inputs)
    return Edited(model, [Line("input-added")], inputs=inputs, allowed="op-added")


def module_to_function(subject: Subject, random_: random.Random) -> Edited:
    """`self.act(x)` → `torch.nn.functional.relu(x)`."""
    functions = {nn.ReLU: "relu", nn.GELU: "gelu", nn.SiLU: "silu"}
    found = [
        (probe, name)
        for probe, name in users(subject)
        if type(probe.module.get_submodule(name)) in functions and f"{probe.path}.{name}".lstrip(".") in subject.probes
    ]
    probe, name = choice(random_, found)
    class_ = type(probe.module)
    function = functions[type(probe.module.get_submodule(name))]  # type: ignore[index]

    def is_call(node: Any) -> bool:
        return getattr(node.func, "attr", "") == name and getattr(getattr(node.func, "value", None), "id", "") == "self"

    def call(node: Any) -> Any:
        new: Any = parsed(f"torch.nn.functional.{function}(x)")
        new.args = node.args
        return new

    model = subject.copy()
    rewrite(model, class_, replace_calls(is_call, call))
    callers = subject.of(class_)
    for user in callers:
        holder, _ = parent_of(model, f"{user.path}.x".lstrip("."))
        del holder._modules[name]
    with_it = [one for one in callers if functions.get(type(one.module.get_submodule(name))) == function]
    lines = [Line("module-to-op", paths(with_it, name), paths(with_it))]
    if others := [one for one in callers if one not in with_it]:  # they had, say, an `Identity` there
        lines.append(Line("op-added", None, paths(others)))
    return Edited(model, lines)


KINDS = {
    kind.__name__: kind
    for kind in (
        op_added,
        residual_added,
        child_added,
        parameter_added,
        op_replaced,
        op_argument,
        output_added,
        input_renamed,
        input_added,
        module_to_function,
    )
}
