"""Function calls: which functions of the model's code are groups, and what is in them.

Long because it is a list of cases, each with a small model of its own.
"""

from __future__ import annotations

import contextlib
import functools
import sys
import threading
import weakref

import pytest
import torch
from torch import nn
from torch.profiler import record_function

from modeldiagrams import structural_digest, summary, to_svg, trace
from modeldiagrams.ir.check import check_graph
from modeldiagrams.tracer.values.scopes import parameters_of
from tracer.traced_graph import Lambda, checked, linear, x


def rotated(h):
    left, right = h.chunk(2, -1)
    return torch.cat((-right, left), -1)


def embedded(q, k):
    return q * 2 + rotated(q), k * 2 + rotated(k)


def normalised(h):
    return h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6)


def clamped(h):
    return h.clamp(0, 1) * 2


def groups(forward, *args, **modules):
    """Groups of a model with this forward: id → short names of the ops directly inside."""
    found = checked(Lambda(forward, **modules), *(args or (x(),)))
    inside = {name: [] for name in found.graph.functions}
    for node in found.graph.nodes:
        if getattr(node, "scope", None):
            inside[node.scope].append(node.id.rpartition("/")[2].partition("#")[0])
    return inside


def test_functions_are_groups_in_groups():
    found = checked(Lambda(lambda self, h: embedded(self.a(h), h)[0], a=linear()), x()).graph
    calls = found.functions
    assert [(name, call.name, call.parent) for name, call in calls.items()] == [
        ("/embedded()", "embedded", None),
        ("/rotated()", "rotated", "/embedded()"),
        ("/rotated()#2", "rotated", "/embedded()"),
    ]
    first, second = calls["/rotated()"], calls["/rotated()#2"]
    assert first.function == f"{__name__}.rotated"
    assert first.source.endswith(f"test_functions.py:{rotated.__code__.co_firstlineno}")
    assert first.call_site.endswith(f"test_functions.py:{embedded.__code__.co_firstlineno + 1}")
    assert first.signature == second.signature != calls["/embedded()"].signature
    assert first.activation_bytes == second.activation_bytes == 3 * (2 + 4) * 4
    assert "scope" not in found.node("a").__struct_fields__ or found.node("a").scope is None


def mixed(h, states, *rest, scale=None, **options):
    h = h * scale + states[0] - states[1]["last"]
    return h + rest[0] * options["shift"]


def test_arguments_have_names_and_paths_inside_them():
    class Model(nn.Module):
        def forward(self, h, one, other):
            made = h + 1
            return mixed(made, (one, {"last": other}), h, 2.0, scale=other, shift=one) + rotated(made) + made

    graph = checked(Model(), x(), x(), x()).graph
    assert graph.functions["/mixed()"].inputs == {
        "h": "/add:0",
        "states[0]": "input:one:0",
        "states[1].last": "input:other:0",
        "scale": "input:other:0",
        "rest[0]": "input:h:0",
        "options.shift": "input:one:0",
    }
    assert graph.functions["/rotated()"].inputs == {"h": "/add:0"}


def test_arguments_are_those_of_the_call_not_what_their_variables_hold_later():
    def changed(h):
        h = h + 1
        h = h * 2
        return h - 3

    graph = trace(Lambda(lambda _, h: changed(h) + changed(h)), (x(),))
    assert [call.inputs for call in graph.functions.values()] == [{"h": "input:args[0]:0"}] * 2


def test_arguments_of_a_function_that_holds_the_dict_of_its_variables_are_not_looked_at():
    def held(one, other):
        total = 0
        for value in locals().values():
            total = total + value * 2
        return total

    graph = trace(Lambda(lambda _, h: held(h, h + 1) + 1), (x(),))
    assert graph.status.error is None
    assert graph.functions["/held()"].inputs == {}


@pytest.mark.parametrize("mode", ["fake", "real"])
def test_arguments_that_a_function_drops_are_freed(mode):
    def dropping(alone, h):
        h = h + 1
        del alone
        return Alone() and h * 2 - 3

    graph = trace(Lambda(lambda _, h: dropping(Alone(), h) + 1), (x(),), mode=mode)
    assert graph.status.error is None
    assert graph.functions["/dropping()"].inputs == {"h": "input:args[0]:0"}


def test_parents_ids_and_paths_are_those_without_groups():
    graph = trace(Lambda(lambda self, h: embedded(self.a(h), h)[0] + 1, a=linear()), (x(),))
    assert {name: parent for name, parent in graph.hierarchy.items() if parent} == {"a/linear": "a"}
    assert [node.id for node in graph.nodes if "cat" in node.id] == ["/cat", "/cat#2"]


def test_helpers_of_two_ops_are_none():
    assert groups(lambda _, h: clamped(h) + clamped(h)) == {}


def test_every_call_in_a_loop_is_one():
    def forward(_, h):
        for _ in range(3):
            h = normalised(h)
        return h + 1

    assert list(groups(forward)) == ["/normalised()", "/normalised()#2", "/normalised()#3"]


def test_a_loop_of_one_function_with_a_loop_inside():
    def steps(h):
        for _ in range(3):
            h = h * 2
        return h

    def forward(_, h):
        for _ in range(2):
            h = steps(h)
        return h + 1

    assert groups(forward) == {"/steps()": ["mul"] * 3, "/steps()#2": ["mul"] * 3}


def test_methods_are_functions_and_callable_objects_have_the_name_of_their_class():
    class Rotation:
        def __call__(self, h):
            return rotated(h) + 1

    class Model(nn.Module):
        def _scaled(self, h):
            return h.sin() * h.cos() + 1

        def forward(self, h):
            return Rotation()(self._scaled(h))

    found = trace(Model(), (x(),)).functions
    assert [(call.name, call.function.rpartition(".")[2]) for call in found.values()] == [
        ("_scaled", "_scaled"),
        ("Rotation", "__call__"),
        ("rotated", "rotated"),
    ]


def test_wrappers_lambdas_comprehensions_and_generators_are_none():
    def logged(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            return function(*args, **kwargs)

        return wrapper

    def parts(h):
        for factor in range(4):
            yield h * factor

    def forward(_, h):
        last = lambda h: h.sin().cos().tan()  # noqa: E731
        h = logged(rotated)(h) + sum([part.sin() for part in parts(h)])
        return last(h)

    assert list(groups(forward)) == ["/rotated()"]


def test_functions_with_the_content_of_what_is_around_them_are_none():
    def inner(h):
        return h.sin().cos().tan()

    def outer(h):
        return inner(h)

    assert list(groups(lambda _, h: outer(h) + 1)) == ["/outer()"]
    assert groups(lambda _, h: outer(h)) == {}
    assert trace(outer, (x(),)).functions == {}


def test_functions_that_call_modules_leave_them_where_they_are():
    def block(self, h):
        return normalised(self.a(h)) + self.b(h)

    assert list(groups(lambda self, h: block(self, h) + 1, a=linear(), b=linear())) == ["/normalised()"]


def test_base_class_and_hooks_are_no_groups():
    class Base(nn.Module):
        def forward(self, h):
            return h * 2 + 1

    class Model(Base):
        def forward(self, h):
            return super().forward(h) - 1

    model = Model()
    model.register_forward_pre_hook(lambda _, given: (given[0].sin().cos().tan(),))
    assert trace(model, (x(),)).functions == {}


def test_recursion_is_nested():
    def halved(h, depth):
        return h if depth == 0 else halved(h * 0.5 + 1, depth - 1) - 1

    assert list(groups(lambda _, h: halved(h, 3) * 2)) == [f"/halved(){call}" for call in ("", "#2", "#3")]


def test_weights_that_only_a_function_uses_are_inside():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.scale, self.shift = nn.Parameter(torch.ones(4)), nn.Parameter(torch.zeros(4))

        def _affine(self, h):
            return (h + 1) * self.scale + self.shift

        def forward(self, h):
            return self._affine(h) + self.shift

    graph = trace(Model(), (x(),))
    check_graph(graph)
    assert graph.node("parameter:scale").scope == "/_affine()"
    order = [node.id for node in graph.nodes]
    assert graph.node("parameter:shift").scope is None
    assert order.index("parameter:shift") < order.index("/add"), "before the group that reads it"


def test_record_function_is_a_group_that_may_contain_modules():
    def forward(self, h):
        with record_function("attention: mix"):
            h = self.a(h.sin()).cos()
            with record_function("inside"):
                h = normalised(h) + 1
        return h + 1

    found = checked(Lambda(forward, a=linear()), x()).graph
    assert {name: (call.function is None, call.parent) for name, call in found.functions.items()} == {
        "/attention%3A mix()": (True, None),
        "/inside()": (True, "/attention%3A mix()"),
        "/normalised()": (False, "/inside()"),
    }
    assert found.node("a").scope == "/attention%3A mix()"
    assert found.node("a/linear").scope is None
    line = forward.__code__.co_firstlineno + 1
    assert found.functions["/attention%3A mix()"].call_site.endswith(f"test_functions.py:{line}")


def test_record_function_as_decorator_and_after_an_error():
    @record_function("decorated")
    def mixed(h):
        return h.sin().cos().tan()

    def forward(_, h):
        with contextlib.suppress(ValueError), record_function("fails"):
            h = h.sin() + 1
            raise ValueError
        return mixed(h.exp().exp().exp())

    assert groups(forward) == {"/decorated()": ["sin", "cos", "tan"]}


def test_threads_have_functions_of_their_own():
    def work(h, results):
        results.append(normalised(h) + 1)

    class Model(nn.Module):
        def forward(self, h):
            results: list[torch.Tensor] = []
            thread = threading.Thread(target=work, args=(h, results))
            thread.start()
            thread.join()
            return rotated(results[0]) + 1

    graph = trace(Model(), (x(),))
    check_graph(graph)
    assert list(graph.functions) == ["/normalised()", "/rotated()"]


def test_values_of_finished_functions_are_not_kept():
    alive: list[bool] = []

    def helper(h):
        temporary = h + 1
        refs.append(weakref.ref(temporary))
        return temporary.sin().cos()

    def forward(_, h):
        h = helper(h)
        h = h * 2
        alive.append(refs[0]() is not None)
        return h

    refs: list[weakref.ref[torch.Tensor]] = []
    trace(Lambda(forward), (x(),), mode="real")
    assert alive == [False]


@pytest.mark.parametrize(("change", "is_same"), [("# a line\n", True), ("", True), ("rename", False)])
def test_digest_changes_with_names_of_functions_and_not_with_lines(change, is_same):
    text = "def helper(h):\n    return h.sin().cos().tan()\n"
    graphs = []
    for source in (text, text.replace("helper", "other") if change == "rename" else change + text):
        names: dict[str, object] = {"__name__": "somewhere"}
        exec(compile(source, "/nowhere/site-packages/somewhere.py", "exec"), names)  # noqa: S102
        function = names.get("helper") or names["other"]
        graphs.append(trace(Lambda(lambda _, h, function=function: function(h) + 1), (x(),)))
    assert [len(graph.functions) for graph in graphs] == [1, 1]
    assert (structural_digest(graphs[0]) == structural_digest(graphs[1])) is is_same


class Alone:
    """Like a lock: there can only be one."""

    is_taken = False

    def __init__(self):
        assert not Alone.is_taken
        Alone.is_taken = True

    def __del__(self):
        Alone.is_taken = False


def guarded(h):
    alone = Alone()  # noqa: F841
    return (h + 1) * 2 - 3


@pytest.mark.parametrize("mode", ["fake", "real"])
def test_variables_of_a_function_end_with_it(mode):
    graph = trace(Lambda(lambda _, h: guarded(guarded(h))), (x(),), mode=mode)
    assert graph.status.error is None
    assert list(graph.functions) == ["/guarded()", "/guarded()#2"]


def test_finished_scope_leaves_nothing_on_its_object():
    class Kept(nn.Module):
        def __init__(self):
            super().__init__()
            self.scope = record_function("kept")

        def forward(self, h):
            with self.scope:
                h = h + 1
            return h * 2

    model = Kept()
    before = set(vars(model.scope))
    trace(model, (x(),))
    assert set(vars(model.scope)) <= before | {"record"}


def swapped(x, y, z):
    x, y = y, x
    return (torch.sub(x, y).relu() @ z.T).sigmoid().exp()


def unpacked(xs, y):
    xs = xs[0]
    return (xs - y).relu().exp()


def made_finite(h):
    h = h + 1
    return (h * 2).exp().relu()


def kept_as_attribute(holder, y):
    holder.y = y
    return (y + 1).exp().relu()


def test_parameters_that_were_assigned_before_the_first_op_name_no_inputs():
    graph = trace(Lambda(lambda _, a: swapped(a, a + 1, a * 2)), (x(),))
    assert list(graph.functions["/swapped()"].inputs) == ["z"]
    graph = trace(Lambda(lambda _, a: unpacked([a + 1, a], a)), (x(),))
    assert list(graph.functions["/unpacked()"].inputs) == ["y"]
    graph = trace(Lambda(lambda _, a: made_finite(a) * 2), (x(),))
    assert list(graph.functions["/made_finite()"].inputs) == ["h"]


def test_parameters_that_became_attributes_of_the_same_name_name_inputs():
    graph = trace(Lambda(lambda module, a: kept_as_attribute(module, a) * 2), (x(),))
    assert list(graph.functions["/kept_as_attribute()"].inputs) == ["y"]


def test_functions_may_have_hundreds_of_variables():
    lines = "\n".join(f"    a{i} = {i}" for i in range(300))
    made = compile(f"def many(x, y, z):\n{lines}\n    z = a299\n    return x + y", "many", "exec")
    first, second, third = parameters_of(made.co_consts[0]).values()
    assert first == second == sys.maxsize > third


def deeper(h, n):
    h = h + 1
    if n:
        h = deeper(h, n - 1)
    return h * 2


def test_deep_recursion_is_drawn_and_summarised():
    graph = trace(Lambda(lambda _, h: deeper(h, 60) * 2), (x(),))
    assert len(graph.functions) == 60  # the innermost has two ops
    assert to_svg(graph).startswith("<svg")
    assert summary(graph).rows[0]["level"] == 0


def test_functions_inside_of_a_hundred_others_are_no_groups():
    """Else endless recursion would take minutes to be reported."""
    graph = trace(Lambda(lambda _, h: deeper(h, 150) * 2), (x(),))
    assert len(graph.functions) == 100
    (innermost,) = (call for call in graph.functions.values() if len(graph.functions_around(call)) == 99)
    assert sum(getattr(node, "scope", None) == innermost.id for node in graph.nodes) == 2 * 52


class Packs(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(4, 3, batch_first=True)

    def forward(self, h, lengths):
        packed = nn.utils.rnn.pack_padded_sequence(h, lengths, batch_first=True, enforce_sorted=False)
        return nn.utils.rnn.pad_packed_sequence(self.rnn(packed)[0], batch_first=True)[0]


def test_packing_is_one_group_of_the_line_that_packs():
    graph = trace(Packs(), (torch.ones(2, 5, 4), torch.tensor([3, 5])))
    check_graph(graph)
    names = {name: call.call_site for name, call in graph.functions.items()}
    assert [*names] == ["/pack_padded_sequence()", "/pad_packed_sequence()"]
    (first, second) = (int(line.rpartition(":")[2]) for line in names.values())
    assert second == first + 1
    for node in graph.nodes:
        if node.kind == "op" and node.scope is not None:
            assert node.source == names[node.scope]
    failed = trace(Packs(), (torch.ones(2, 5, 4), torch.tensor([0, 5])))
    assert failed.status.error.frames[-1].function == "Packs.forward"
