"""Edits of arguments and sizes, and of what a forward does: ops, residuals, inputs, outputs."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from edits.rewriting import on_return, parsed, replace_calls, rewrite, source_has
from edits.subject import Edited, InapplicableError, Line, Probe, Subject, choice, paths, put, run

if TYPE_CHECKING:
    import random

DIMS = 4


def _changed(subject: Subject, probes: list[Probe], change: Any, *ids: str, **more: Any) -> Edited:
    """Layers of which an edit changes something in place or that it exchanges for one of their class."""
    model = subject.copy()
    for probe in probes:
        new = change(model.get_submodule(probe.path))
        if new is not None:
            put(model, probe.path, new.eval())
    same = paths(probes)
    return Edited(model, [Line(one, same, same) for one in ids], **more)


def _conv(old: nn.Conv2d, **more: Any) -> nn.Conv2d:
    names = ("kernel_size", "stride", "padding", "dilation", "groups")
    settings = {name: getattr(old, name) for name in names} | {"bias": old.bias is not None} | more
    return nn.Conv2d(old.in_channels, old.out_channels, **settings)


def _square_convs(subject: Subject) -> list[Probe]:
    found = subject.of(nn.Conv2d, inner=True)
    return [one for one in found if one.module.kernel_size == (3, 3) and one.module.dilation == (1, 1)]


def kernel(subject: Subject, random_: random.Random) -> Edited:
    probe = choice(random_, _square_convs(subject))
    # padding follows, so that sizes stay
    return _changed(
        subject, [probe], lambda old: _conv(old, kernel_size=5, padding=old.padding[0] + 1), "argument", "argument"
    )


def dilation(subject: Subject, random_: random.Random) -> Edited:
    probe = choice(random_, _square_convs(subject))
    return _changed(
        subject, [probe], lambda old: _conv(old, dilation=2, padding=old.padding[0] + 1), "argument", "argument"
    )


def groups(subject: Subject, random_: random.Random) -> Edited:
    found = [one for one in subject.of(nn.Conv2d, inner=True) if one.module.groups == 1]
    probe = choice(random_, [one for one in found if one.module.in_channels % 2 == one.module.out_channels % 2 == 0])
    return _changed(subject, subject.like(probe), lambda old: _conv(old, groups=2), "argument")


def bias(subject: Subject, random_: random.Random) -> Edited:
    probe = choice(random_, [one for one in subject.of(nn.Linear, nn.Conv2d) if one.module.bias is not None])

    def change(old: Any) -> nn.Module:
        if isinstance(old, nn.Conv2d):
            return _conv(old, bias=False)
        return nn.Linear(old.in_features, old.out_features, bias=False)

    probes = subject.like(probe)
    return _changed(subject, probes, change, "argument", keys={f"{one.path}.bias": None for one in probes})


def eps(subject: Subject, random_: random.Random) -> Edited:
    class_ = type(choice(random_, subject.of(nn.LayerNorm, nn.BatchNorm2d, nn.GroupNorm, inner=True)).module)

    def change(old: Any) -> None:
        old.eps = 0.01

    found = subject.of(class_)
    old = {one.module.eps for one in found}
    ids = ["argument"] * len(old)
    edited = _changed(subject, found, change, *ids)
    if len(old) > 1:
        edited.lines = [Line("argument") for _ in old]
    return edited


def dropout(subject: Subject, _: random.Random) -> Edited:
    found = subject.of(nn.Dropout)
    if not found or len({one.module.p for one in found}) > 1:
        raise InapplicableError("no dropout")

    def change(old: Any) -> None:
        old.p = 0.37

    return _changed(subject, found, change, "argument")


def inplace(subject: Subject, _: random.Random) -> Edited:
    found = subject.of(nn.ReLU)
    if not found or any(one.module.inplace for one in found):
        raise InapplicableError("no ReLU")

    def change(old: Any) -> None:
        old.inplace = True

    return _changed(subject, found, change, "argument op-argument")


def affine(subject: Subject, random_: random.Random) -> Edited:
    probes = subject.like(choice(random_, subject.of(nn.LayerNorm, inner=True)))
    keys = {f"{one.path}.{name}": None for one in probes for name in ("weight", "bias")}
    return _changed(
        subject, probes, lambda old: nn.LayerNorm(old.normalized_shape, old.eps, False), "argument", keys=keys
    )


def head_size(subject: Subject, _: random.Random) -> Edited:
    linears = subject.of(nn.Linear)
    if not linears or [*subject.probes][-2:-1] != [linears[-1].path]:
        raise InapplicableError("no head")
    return _changed(
        subject, linears[-1:], lambda old: nn.Linear(old.in_features, old.out_features + 3, old.bias is not None), "size"
    )


def vocabulary(subject: Subject, random_: random.Random) -> Edited:
    probe = choice(random_, [one for one in subject.of(nn.Embedding, inner=True) if _is_alone(subject, one)])

    def change(old: Any) -> nn.Module:
        return nn.Embedding(old.num_embeddings + 11, old.embedding_dim, old.padding_idx)

    return _changed(subject, [probe], change, "size")


def _is_alone(subject: Subject, probe: Probe) -> bool:
    """Whether nothing is tied to its weight."""
    return sum(parameter is probe.module.weight for _, parameter in _all_parameters(subject)) == 1


def _all_parameters(subject: Subject) -> Any:
    return subject.original.named_parameters(remove_duplicate=False)


def inner_size(subject: Subject, random_: random.Random) -> Edited:
    """The width between two layers, in all blocks alike."""
    linears = subject.of(nn.Linear, inner=True)
    found = [
        (one, other)
        for one, other in zip(linears, linears[1:], strict=False)
        if one.module.out_features == other.module.in_features != one.module.in_features
    ]
    one, other = choice(random_, found)
    ups, downs = subject.like(one), subject.like(other)
    model = subject.copy()
    for up in ups:
        old: Any = up.module
        put(model, up.path, nn.Linear(old.in_features, old.out_features + 8, old.bias is not None))
    for down in downs:
        old = down.module
        put(model, down.path, nn.Linear(old.in_features + 8, old.out_features, old.bias is not None))
    places = paths(ups)
    return Edited(model, [Line("size", places, places)])


def width(subject: Subject, _: random.Random) -> Edited:
    if "width" not in subject.variants:
        raise InapplicableError("no other width")
    make, lines = subject.variants["width"]
    torch.manual_seed(0)
    return Edited(make().eval(), lines)


def example_input(subject: Subject, _: random.Random) -> Edited:
    if subject.other_inputs is None:
        raise InapplicableError("no other inputs")
    return Edited(subject.copy(), [Line("example-input")], inputs=subject.other_inputs(), allowed="example-input")


def _rewritable(subject: Subject, *, same_shape: bool = False, root: bool = False) -> list[Probe]:
    """Modules with code of their own that return one tensor."""
    return [
        probe
        for probe in subject.probes.values()
        if probe.returned is not None
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


KINDS = {
    kind.__name__: kind
    for kind in (
        kernel,
        dilation,
        groups,
        bias,
        eps,
        dropout,
        inplace,
        affine,
        head_size,
        vocabulary,
        inner_size,
        width,
        example_input,
        op_added,
        residual_added,
        child_added,
        parameter_added,
        op_replaced,
        op_argument,
        output_added,
        input_renamed,
        input_added,
    )
}
