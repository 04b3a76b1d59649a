"""Edits of the modules: their names, their order, what is around them, how many there are."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from torch import nn

from edits.rewriting import rename_attribute, rewrite
from edits.subject import Edited, InapplicableError, Line, Probe, Subject, choice, keys_under, paths, put

if TYPE_CHECKING:
    import random

NAMES = ("alpha", "stem_part", "mixer", "project", "inner_layer")
LISTS = (nn.ModuleList, nn.Sequential)


class Wrapper(nn.Module):
    """Something around a module."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.inner(*args, **kwargs)


def moved_keys(model: nn.Module, old: str, new: str) -> dict[str, str]:
    """All keys below a path that is another now."""
    return {key: new + key[len(old) :] for key in keys_under(model, old)}


def users(subject: Subject) -> list[tuple[Probe, str]]:
    """Modules of own code and the names of children that they call."""
    return [
        (probe, name)
        for probe in subject.probes.values()
        if not type(probe.module).__module__.startswith("torch.nn")
        for name, _ in probe.module.named_children()
        if not name.isdigit()
    ]


def _rename(subject: Subject, found: tuple[Probe, str], to: str) -> Edited:
    probe, name = found
    class_ = type(probe.module)
    model = subject.copy()
    keys = {}
    before: set[str] = set()
    after: set[str] = set()
    for path, module in list(model.named_modules()):
        if type(module) is class_ and name in module._modules:
            old, new = (f"{path}.{one}".lstrip(".") for one in (name, to))
            keys |= moved_keys(model, old, new)
            module._modules = {to if key == name else key: child for key, child in module._modules.items()}
            below = [old] if old in subject.probes else _members(subject, old)
            before |= set(below)
            after |= {new + one[len(old) :] for one in below}
    rewrite(model, class_, rename_attribute(name, to))
    return Edited(model, [Line("renamed", frozenset(before), frozenset(after))], keys)


def _members(subject: Subject, path: str) -> list[str]:
    found = [one for one in subject.probes if one.rpartition(".")[0] == path]
    if not found:
        raise InapplicableError("never called")
    return found


def renamed(subject: Subject, random_: random.Random) -> Edited:
    found = [one for one in users(subject) if not isinstance(one[0].module.get_submodule(one[1]), LISTS)]
    return _rename(subject, choice(random_, found), random_.choice(NAMES))


def list_renamed(subject: Subject, random_: random.Random) -> Edited:
    found = [one for one in users(subject) if isinstance(one[0].module.get_submodule(one[1]), nn.ModuleList)]
    return _rename(subject, choice(random_, found), "renamed_list")


def class_renamed(subject: Subject, random_: random.Random) -> Edited:
    own = [one for one in subject.probes.values() if not type(one.module).__module__.startswith("torch")]
    probe = choice(random_, [one for one in own if list(one.module.children())])
    class_ = type(probe.module)
    model = subject.copy()
    rewrite(model, class_, lambda _: None, name=f"New{class_.__name__}")
    same = paths(subject.of(class_))
    return Edited(model, [Line("class", same, same)])


def _wrap(subject: Subject, probes: list[Probe]) -> Edited:
    model = subject.copy()
    keys = {}
    for probe in probes:
        inner = model.get_submodule(probe.path)
        keys |= moved_keys(model, probe.path, f"{probe.path}.inner")
        put(model, probe.path, Wrapper(inner))
    return Edited(model, [Line("wrapped", None, paths(probes))], keys)


def layer_wrapped(subject: Subject, random_: random.Random) -> Edited:
    probe = choice(random_, subject.of(nn.Linear, nn.Conv2d, nn.LayerNorm, inner=True))
    return _wrap(subject, [probe])


def layers_wrapped(subject: Subject, random_: random.Random) -> Edited:
    return _wrap(subject, subject.like(choice(random_, subject.of(nn.Linear, nn.Conv2d, inner=True))))


def blocks_wrapped(subject: Subject, random_: random.Random) -> Edited:
    return _wrap(subject, choice(random_, _lists(subject))[1])


def root_wrapped(subject: Subject, _: random.Random) -> Edited:
    given = subject.inputs()
    if not isinstance(given, dict):
        raise InapplicableError("inputs without names")
    names = ", ".join(given)
    space: dict[str, Any] = {"nn": nn}
    text = (
        "class Holder(nn.Module):\n"
        "    def __init__(self, net):\n        super().__init__()\n        self.net = net\n"
        f"    def forward(self, {names}):\n        return self.net({', '.join(f'{one}={one}' for one in given)})\n"
    )
    exec(text, space)  # noqa: S102
    model = subject.copy()
    keys = moved_keys(model, "", "net.")
    return Edited(space["Holder"](model).eval(), [Line("wrapped", None, frozenset({""}))], keys)


def _lists(subject: Subject) -> list[tuple[str, list[Probe]]]:
    """Lists with more than one called member of one class, and those members."""
    found = []
    for path, module in subject.original.named_modules():
        if isinstance(module, LISTS) and path:
            members = [subject.probes.get(f"{path}.{name}") for name in module._modules]
            called = [one for one in members if one is not None and list(one.module.children())]
            if len(called) > 1 and len({type(one.module) for one in called}) == 1:
                found.append((path, called))
    return found


def _repeated(subject: Subject, path: str, members: list[Probe], more: int) -> Edited:
    """The last member, which keeps its input's shape, several times more."""
    last = members[-1]
    model = subject.copy()
    holder = model.get_submodule(path)
    every = list(holder._modules.values())
    at = every.index(model.get_submodule(last.path)) + 1
    if last.given is None or last.given != last.returned or last.calls > 1:
        raise InapplicableError("a block that changes shapes")
    new = [copy.deepcopy(every[at - 1]) for _ in range(more)]
    keys: dict[str, str] = {}
    for number in range(at, len(every)):
        keys |= moved_keys(model, f"{path}.{number}", f"{path}.{number + more}")
    holder._modules = {str(i): module for i, module in enumerate([*every[:at], *new, *every[at:]])}
    same = sum(type(one.module) is type(last.module) for one in members)
    places = frozenset(f"{path}.{at + i}" for i in range(more))
    return Edited(model, [Line("repeats", frozenset(), places, more, (same, same + more))], keys, has_to_run=places)


def block_repeated(subject: Subject, random_: random.Random) -> Edited:
    return _repeated(subject, *choice(random_, _lists(subject)), 1)


def blocks_repeated(subject: Subject, random_: random.Random) -> Edited:
    return _repeated(subject, *choice(random_, _lists(subject)), 17)


def block_shared(subject: Subject, random_: random.Random) -> Edited:
    path, members = choice(random_, _lists(subject))
    one, other = members[-2:]
    if [tuple(x.shape) for x in one.module.parameters()] != [tuple(x.shape) for x in other.module.parameters()]:
        raise InapplicableError("blocks of other sizes")
    model = subject.copy()
    put(model, other.path, model.get_submodule(one.path))
    line = Line("shared", frozenset({other.path}), frozenset({one.path}))
    return Edited(model, [line], untold=rf"^{path}\.")


def _sequences(subject: Subject) -> list[tuple[str, list[str]]]:
    """Sequences and the names of their members, all of which are called."""
    found = []
    for path, module in subject.original.named_modules():
        names = list(module._modules)
        is_sequence = type(module) is nn.Sequential and path and len(names) > 1
        if is_sequence and all(name.isdigit() and f"{path}.{name}" in subject.probes for name in names):
            found.append((path, names))
    return found


def _with_member(subject: Subject, path: str, at: int, new: nn.Module) -> Edited:
    model = subject.copy()
    holder = model.get_submodule(path)
    every = list(holder._modules.values())
    keys: dict[str, str] = {}
    for number in range(at, len(every)):
        keys |= moved_keys(model, f"{path}.{number}", f"{path}.{number + 1}")
    holder._modules = {str(i): module for i, module in enumerate([*every[:at], new, *every[at:]])}
    return Edited(model, [Line("added", frozenset(), frozenset({f"{path}.{at}"}))], keys)


def member_added(subject: Subject, random_: random.Random) -> Edited:
    path, names = choice(random_, _sequences(subject))
    return _with_member(subject, path, random_.randint(1, len(names)), random_.choice([nn.Dropout(0.3), nn.Tanh()]))


def weighted_member_added(subject: Subject, random_: random.Random) -> Edited:
    path, names = choice(random_, _sequences(subject))
    at = random_.randint(1, len(names))
    shape = subject.probes[f"{path}.{at - 1}"].returned
    if shape is None or len(shape) not in {2, 3, 4}:
        raise InapplicableError("no tensor")
    new = nn.GroupNorm(1, shape[1]) if len(shape) == 4 else nn.RMSNorm(shape[-1])
    return _with_member(subject, path, at, new)


def member_removed(subject: Subject, random_: random.Random) -> Edited:
    found = [
        (path, names, at)
        for path, names in _sequences(subject)
        for at, name in enumerate(names)
        if subject.probes[f"{path}.{name}"].given == subject.probes[f"{path}.{name}"].returned
        and not list(subject.probes[f"{path}.{name}"].module.children())
    ]
    path, names, at = choice(random_, found)
    model = subject.copy()
    holder = model.get_submodule(path)
    keys: dict[str, str | None] = dict.fromkeys(keys_under(model, f"{path}.{at}"))
    for number in range(at + 1, len(names)):
        keys |= moved_keys(model, f"{path}.{number}", f"{path}.{number - 1}")
    every = list(holder._modules.values())
    holder._modules = {str(i): module for i, module in enumerate([*every[:at], *every[at + 1 :]])}
    return Edited(model, [Line("removed", frozenset({f"{path}.{at}"}), frozenset())], keys)


def members_grouped(subject: Subject, random_: random.Random) -> Edited:
    path, names = choice(random_, [(path, names) for path, names in _sequences(subject) if len(names) > 2])
    at = random_.randint(0, len(names) - 2)
    model = subject.copy()
    holder = model.get_submodule(path)
    every = list(holder._modules.values())
    keys = moved_keys(model, f"{path}.{at}", f"{path}.{at}.0") | moved_keys(model, f"{path}.{at + 1}", f"{path}.{at}.1")
    for number in range(at + 2, len(every)):
        keys |= moved_keys(model, f"{path}.{number}", f"{path}.{number - 1}")
    group = nn.Sequential(*every[at : at + 2])
    holder._modules = {str(i): module for i, module in enumerate([*every[:at], group, *every[at + 2 :]])}
    return Edited(model, [Line("wrapped", frozenset(), frozenset({f"{path}.{at}"}))], keys)


def members_reordered(subject: Subject, random_: random.Random) -> Edited:
    probes = subject.probes
    found = [
        (path, at)
        for path, names in _sequences(subject)
        for at in range(len(names) - 1)
        if probes[f"{path}.{at + 1}"].given == probes[f"{path}.{at + 1}"].returned == probes[f"{path}.{at}"].given
        and type(probes[f"{path}.{at}"].module) is not type(probes[f"{path}.{at + 1}"].module)
    ]
    path, at = choice(random_, found)
    model = subject.copy()
    one, other = f"{path}.{at}", f"{path}.{at + 1}"
    keys = moved_keys(model, one, other) | moved_keys(model, other, one)
    first, second = model.get_submodule(one), model.get_submodule(other)
    put(model, one, second)
    put(model, other, first)
    return Edited(model, [Line("reordered", frozenset({path}), frozenset({path}))], keys)


KINDS = {
    kind.__name__: kind
    for kind in (
        renamed,
        list_renamed,
        class_renamed,
        layer_wrapped,
        layers_wrapped,
        blocks_wrapped,
        root_wrapped,
        block_repeated,
        blocks_repeated,
        block_shared,
        member_added,
        weighted_member_added,
        member_removed,
        members_grouped,
        members_reordered,
    )
}
