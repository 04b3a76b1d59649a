"""Edits of layers: which they are, their arguments and sizes."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from edits.subject import Edited, InapplicableError, Line, Probe, Subject, choice, paths, put

if TYPE_CHECKING:
    import random

ACTIVATIONS = (nn.ReLU, nn.GELU, nn.SiLU, nn.Tanh, nn.Sigmoid, nn.LeakyReLU, nn.ELU)


def _replaced(subject: Subject, probes: list[Probe], make: Any, ids: str = "replaced") -> Edited:
    model = subject.copy()
    for probe in probes:
        put(model, probe.path, make(probe).eval())
    same = paths(probes)
    untold = "|".join(rf"^{path}\." for path in same)
    return Edited(model, [Line(ids, same, same)], untold=untold or r"(?!)")


def activation_replaced(subject: Subject, random_: random.Random) -> Edited:
    probe = choice(random_, subject.of(*ACTIVATIONS, inner=True))
    return _replaced(subject, [probe], lambda _: nn.Softplus())


def activations_replaced(subject: Subject, random_: random.Random) -> Edited:
    class_ = type(choice(random_, subject.of(*ACTIVATIONS, inner=True)).module)
    return _replaced(subject, subject.of(class_, inner=True), lambda _: nn.Hardswish())


def norms_replaced(subject: Subject, random_: random.Random) -> Edited:
    class_ = type(choice(random_, subject.of(nn.LayerNorm, nn.BatchNorm2d, nn.GroupNorm, inner=True)).module)

    def make(probe: Probe) -> nn.Module:
        if isinstance(probe.module, nn.LayerNorm):
            return nn.RMSNorm(probe.module.normalized_shape)
        return nn.InstanceNorm2d((probe.given or (1, 1))[1], affine=True)

    return _replaced(subject, subject.of(class_, inner=True), make)


def norm_dropped(subject: Subject, random_: random.Random) -> Edited:
    probe = choice(random_, subject.of(nn.LayerNorm, nn.BatchNorm2d, nn.GroupNorm, inner=True))
    return _replaced(subject, subject.like(probe), lambda _: nn.Identity(), "replaced removed")


def pool_replaced(subject: Subject, random_: random.Random) -> Edited:
    probe = choice(random_, subject.of(nn.MaxPool2d, nn.AvgPool2d))

    def make(probe: Probe) -> nn.Module:
        old = probe.module
        new = nn.AvgPool2d if isinstance(old, nn.MaxPool2d) else nn.MaxPool2d
        return new(old.kernel_size, old.stride, old.padding, ceil_mode=old.ceil_mode)

    return _replaced(subject, [probe], make)


def linear_factored(subject: Subject, random_: random.Random) -> Edited:
    probe = choice(random_, subject.of(nn.Linear, inner=True))

    def make(probe: Probe) -> nn.Module:
        old: Any = probe.module
        return nn.Sequential(nn.Linear(old.in_features, 3, bias=False), nn.Linear(3, old.out_features))

    return _replaced(subject, subject.like(probe), make)


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
    alike = [one for one in subject.like(probe) if one in found and one.module.in_channels % 2 == 0]
    return _changed(subject, alike, lambda old: _conv(old, groups=2), "argument")


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
        subject,
        linears[-1:],
        lambda old: nn.Linear(old.in_features, old.out_features + 3, old.bias is not None),
        "size",
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
        for one, other in itertools.pairwise(linears)
        if one.module.out_features == other.module.in_features != one.module.in_features
    ]
    one, other = choice(random_, found)
    if subject.like(one) == subject.like(other):
        raise InapplicableError("the same layers on both sides")
    ups = [up for up in subject.like(one) if up.module.out_features == one.module.out_features]
    downs = [down for down in subject.like(other) if down.module.in_features == one.module.out_features]
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


KINDS = {
    kind.__name__: kind
    for kind in (
        activation_replaced,
        activations_replaced,
        norms_replaced,
        norm_dropped,
        pool_replaced,
        linear_factored,
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
    )
}
