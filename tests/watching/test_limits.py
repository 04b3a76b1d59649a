"""What other tools that watch a training can't do, and what their users met.

Long because it is a list of cases, each with a small model of its own.
"""

from __future__ import annotations

import copy
import dataclasses
import resource
import threading
import warnings
import weakref

import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from modeldiagrams import load_recording, watch
from modeldiagrams.watching.file.records import Key
from watching.training import Mlp, Small, changes_nothing, images, listened_to, loss_of, recorded, train, vectors


def rows(found, at=0):
    return found.moments[at].rows


def test_arguments_by_keyword_and_structured_results(path):
    @dataclasses.dataclass
    class Result:
        logits: torch.Tensor
        states: tuple

    class Structured(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = Mlp()

        def forward(self, x, *, batch=None):
            y = self.inner(x=batch["mask"] * x)
            return Result(y, (y * 2, y * 3))

    batches = [{"x": vectors(1)[0][0], "batch": {"mask": torch.ones(4, 6)}}]
    found = recorded(Structured(), batches, path, log=["activations", "gradients", "inputs"])
    assert {(k.node, k.tensor) for k in found.keys if k.kind == "input"} >= {
        ("", "x"),
        ("", "batch.mask"),
        ("inner", "x"),
    }
    assert {k.tensor for k in found.keys if k.node == "" and k.kind == "gradient"} == {
        "logits",
        "states[0]",
        "states[1]",
    }


def test_in_place_after_a_module(path):
    class InPlace(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(6, 6), nn.Linear(6, 6)

        def forward(self, x):
            y = self.a(x)
            y.mul_(2).relu_()
            z = self.b(y)
            z[:, 0] = 0
            return z

    with changes_nothing(InPlace, vectors(6), path):
        found = rows(load_recording(path))
    assert found[Key("a", "activation")].min < 0
    assert found[Key("a", "gradient")].norm > 0


def test_views_and_chunks(path):
    class Chunks(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.cut = nn.Linear(6, 6), Cut()

        def forward(self, x):
            one, other = self.cut(self.a(x))
            return one * other

    class Cut(nn.Module):
        def forward(self, x):
            return x.chunk(2, -1)

    with changes_nothing(Chunks, vectors(4), path):
        found = rows(load_recording(path))
    assert found[Key("cut", "gradient", "[1]")].count == 12


def test_several_backwards_and_double_backward(path):
    model, (x,) = Mlp(), vectors(1)[0]
    x.requires_grad_()
    with watch(model, every=1, path=path) as watcher:
        y = model(x)
        y.mean().backward(retain_graph=True)
        y.sum().backward(retain_graph=True)
        (gradient,) = torch.autograd.grad(y.pow(2).sum(), x, create_graph=True)
        gradient.pow(2).sum().backward()
        watcher.step()
    row = rows(load_recording(path))[Key("a", "gradient")]
    assert row.fires >= 3


def test_recursion_and_loops(path):
    class Recursive(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.Linear(6, 6)

        def forward(self, x, depth=2):
            x = self.a(x)
            return self(x, depth - 1) if depth else x

    with changes_nothing(Recursive, vectors(4), path):
        found = load_recording(path)
    assert {key.node for key in found.keys if key.kind == "activation"} == {"a", "a#2", "a#3", "", "#2", "#3"}


def test_changing_control_flow(path):
    class Sometimes(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(6, 6), nn.Linear(6, 6)
            self.n = 0

        def forward(self, x):
            self.n += 1
            return self.b(self.a(x)) if self.n % 2 else self.a(x)

    found = recorded(Sometimes(), vectors(4), path)
    assert [Key("b", "activation") in moment.rows for moment in found.moments] == [True, False, True, False]
    assert [moment.rows[Key("b", "update", "weight")].norm > 0 for moment in found.moments] == [
        True,
        False,
        True,
        False,
    ]


def test_micro_batches_that_take_different_branches(path):
    """What the model returns is what `b` returned in one, and what `a` returned in the other."""

    class Sometimes(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b, self.n = nn.Linear(6, 6), nn.Linear(6, 6), 0

        def forward(self, x):
            self.n += 1
            return self.b(self.a(x)) if self.n % 2 else self.a(x)

    model = Sometimes()
    with watch(model, every=1, path=path) as watcher:
        for batch in vectors(2):
            loss_of(model(*batch)).backward()
        watcher.step()
    found = rows(load_recording(path))
    for kind in ("activation", "gradient"):
        assert [found[Key(node, kind)].count for node in ("a", "b", "")] == [48, 24, 48]


def test_directly_called_forward_is_reported(path):
    class Direct(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(6, 6), nn.Linear(6, 6)

        def forward(self, x):
            return self.a(self.b.forward(x))

    found = recorded(Direct(), vectors(1), path)
    assert found.moments[0].unseen == ("b",)
    assert Key("b", "activation") not in rows(found)
    assert Key("b", "update", "weight") in rows(found)


def test_a_forward_that_raises(path):
    class Raises(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.n = Mlp(), 0

        def forward(self, x):
            self.n += 1
            y = self.a(x)
            if self.n == 1:
                raise ValueError("once")
            return y

    model, batches = Raises(), vectors(2)
    with watch(model, every=1, path=path) as watcher:
        with pytest.raises(ValueError, match="once"):
            model(*batches[0])
        train(model, batches[1:], watcher)
    assert {key.node for key in load_recording(path).keys if key.kind == "activation"} == {
        "",
        "a",
        "a.a",
        "a.act",
        "a.b",
    }


def test_accumulated_gradients_are_one_step(path):
    model, batches = Mlp(), vectors(4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with watch(model, every=1, path=path) as watcher:
        for batch in batches:
            loss_of(model(*batch)).backward()
        total = model.a.weight.grad.norm().item()
        optimizer.step()
        watcher.step()
    found = rows(load_recording(path))
    assert {key.node for key in found} == {"", "a", "act", "b"}
    assert found[Key("a", "activation")].fires == 4
    assert found[Key("a", "activation")].count == 4 * 4 * 8
    assert found[Key("", "gradient")].fires == 4  # the same tensor as that of `b`
    assert found[Key("a", "parameter_gradient", "weight")].fires == 1
    assert found[Key("a", "parameter_gradient", "weight")].norm == pytest.approx(total, rel=1e-5)


def test_a_root_that_is_never_called(path):
    """Lightning calls `training_step`; a pass ends at the first gradient after it."""

    class Task(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = Mlp()

        def training_step(self, x):
            return loss_of(self.net(x) + self.net(x))

    model = Task()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with watch(model, every=1, path=path) as watcher:
        for batch in vectors(3):
            model.training_step(*batch).backward()
        optimizer.step()
        watcher.step()
    found = rows(load_recording(path))
    assert {key.node for key in found if key.kind == "activation"} == {
        *("net", "net.a", "net.act", "net.b", "net#2", "net.a#2", "net.act#2", "net.b#2")
    }
    assert found[Key("net.a#2", "gradient")].fires == 3


@pytest.mark.parametrize("reentrant", [True, False])
def test_checkpointing_runs_a_call_again_and_counts_it_once(path, reentrant):
    class Deep(nn.Module):
        def __init__(self, *, is_checkpointed=True):
            super().__init__()
            self.first, self.shared, self.last = nn.Linear(6, 6), nn.Linear(6, 6), nn.Linear(6, 6)
            self.is_checkpointed = is_checkpointed

        def part(self, x):
            return torch.tanh(self.shared(torch.relu(self.shared(x))))

        def forward(self, x):
            x = self.first(x)
            for _ in range(3):
                x = checkpoint(self.part, x, use_reentrant=reentrant) if self.is_checkpointed else self.part(x)
            return self.last(x)

    with changes_nothing(Deep, vectors(4), path):
        found = rows(load_recording(path))
    torch.manual_seed(0)
    plain = rows(recorded(Deep(is_checkpointed=False), vectors(1), path.with_name("plain.mdwatch")))
    assert set(found) == set(plain)
    for key, row in plain.items():
        assert (row.norm, row.fires) == (pytest.approx(found[key].norm, rel=1e-5), found[key].fires), key


def test_repeated_calls_are_found_although_memory_is_reused(path):
    """The memory of what the first of two calls was given is often that of what the next part is given."""

    class Deep(nn.Module):
        def __init__(self):
            super().__init__()
            self.shared = nn.Linear(64, 64)

        def part(self, x):
            return self.shared(self.shared(x * 1) * 1)

        def forward(self, x):
            for _ in range(4):
                x = checkpoint(self.part, x, use_reentrant=True)
            return x

    x = torch.randn(64, 64, requires_grad=True)
    for step in range(5):
        found = rows(recorded(Deep(), [(x,)], path.with_name(f"{step}.mdwatch")))
        gradients = [found.get(Key(f"shared#{n}" if n > 1 else "shared", "gradient")) for n in range(1, 9)]
        assert [row is not None and row.fires for row in gradients] == [1] * 8
        norms = [row.norm for row in gradients]
        assert norms == sorted(norms)  # they shrink on their way back


@pytest.mark.parametrize("skipped", [False, True])
def test_gradients_are_unscaled_under_amp(path, skipped):
    torch.manual_seed(0)
    model, plain = Mlp(), Mlp()
    plain.load_state_dict(model.state_dict())
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**10, growth_interval=1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with watch(model, every=1, path=path, scaler=scaler) as watcher:
        loss = loss_of(model(*vectors(1)[0]))
        scaler.scale(loss).backward()
        if skipped:
            model.a.weight.grad[0, 0] = torch.inf
        scaler.step(optimizer)
        scaler.update()
        watcher.step(loss)
    found, expected = load_recording(path), rows(recorded(plain, vectors(1), path.with_name("plain.mdwatch")))
    moment = found.moments[0]
    assert moment.skipped is skipped
    assert moment.scale == 1024
    for key in (Key("a", "gradient"), Key("b", "parameter_gradient", "bias")):
        assert moment.rows[key].norm == pytest.approx(expected[key].norm, rel=1e-4)
    assert moment.rows[Key("a", "gradient")].histogram == expected[Key("a", "gradient")].histogram
    assert (Key("a", "update", "weight") in moment.rows) is not skipped
    assert not [anomaly for anomaly in found.anomalies if anomaly.kind == "nonfinite"]


def test_clipped_gradients_are_recorded(path):
    model = Mlp()

    def step(optimizer):
        nn.utils.clip_grad_norm_(model.parameters(), 1e-3)
        optimizer.step()

    with watch(model, every=1, path=path) as watcher:
        train(model, vectors(1), watcher, step=step)
    norms = [row.norm for key, row in rows(load_recording(path)).items() if key.kind == "parameter_gradient"]
    assert sum(norm**2 for norm in norms) ** 0.5 == pytest.approx(1e-3, rel=1e-3)


def test_two_models_that_train_each_other(path):
    generator, critic = Mlp(), Mlp()
    optimizers = [torch.optim.Adam(model.parameters()) for model in (generator, critic)]
    other = path.with_name("critic.mdwatch")
    with watch(generator, every=1, path=path) as one, watch(critic, every=1, path=other) as two:
        for (x,) in vectors(2):
            made = generator(x)
            (loss_of(critic(made.detach())) - loss_of(critic(x))).backward()
            optimizers[1].step()
            optimizers[1].zero_grad()
            loss_of(critic(made)).backward()
            optimizers[0].step()
            optimizers[0].zero_grad()
            one.step()
            two.step()
    assert rows(load_recording(path))[Key("a", "activation")].fires == 1
    assert rows(load_recording(other))[Key("a", "activation")].fires == 3
    assert rows(load_recording(other), 1)[Key("a", "update", "weight")].fires == 1
    assert load_recording(path).anomalies == ()


def test_a_copy_of_the_model_is_another_model(path):
    model = Mlp()
    with watch(model, every=1, path=path) as watcher:
        average = copy.deepcopy(model)
        for batch in vectors(2):
            train(model, [batch])
            average(*batch)
            average.a.weight.data.lerp_(model.a.weight.data, 0.5)
            watcher.step()
    assert rows(load_recording(path))[Key("a", "activation")].fires == 1
    alive = weakref.ref(average)
    del average
    assert alive() is None


def test_tied_and_sparse_weights(path):
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = nn.Embedding(20, 6, sparse=True)
            self.out = nn.Linear(6, 6, bias=False)
            self.again = nn.Linear(6, 6, bias=False)
            self.again.weight = self.out.weight

        def forward(self, x):
            return self.again(self.out(self.embed(x)))

    model = Tied()
    with watch(model, every=1, path=path) as watcher:
        train(model, [(torch.arange(5),)], watcher, optimizer=torch.optim.SGD(model.parameters(), lr=0.1))
    found = rows(load_recording(path))
    assert found[Key("embed", "parameter_gradient", "weight")].count == 5 * 6
    assert {key.node for key in found if key.kind == "parameter"} == {"embed", "out"}


def test_a_returned_parameter_keeps_no_hook(path):
    class Positions(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.randn(6))

        def forward(self):
            return self.weight

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.positions, self.a = Positions(), nn.Linear(6, 6)

        def forward(self, x):
            return self.a(x + self.positions())

    with changes_nothing(Model, vectors(4), path) as model:
        assert not model.positions.weight._backward_hooks
    assert rows(load_recording(path))[Key("positions", "gradient")].count == 6


def test_vmap_inference_mode_and_threads_work(path):
    model, batches = Mlp(), vectors(3)
    with watch(model, every=1, path=path) as watcher:
        torch.vmap(model)(batches[0][0])
        with torch.inference_mode():
            model(*batches[1])
        thread = threading.Thread(target=lambda: model(*batches[1]))
        thread.start()
        thread.join()
        train(model, batches[2:], watcher)
    found = rows(load_recording(path))
    assert found[Key("a", "gradient")].fires == 1


def test_parameters_unfrozen_later(path):
    model = Mlp()
    model.a.requires_grad_(requires_grad=False)
    with watch(model, every=1, path=path) as watcher:
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        train(model, vectors(4), watcher, optimizer=optimizer)
        model.a.requires_grad_()
        train(model, vectors(1), watcher, optimizer=optimizer)
    found = load_recording(path)
    key = Key("a", "update", "weight")
    assert [key in moment.rows for moment in found.moments] == [False] * 4 + [True]
    assert found.anomalies == ()


def test_optimizers_that_step_in_backward(path):
    model = Mlp()
    optimizers = {p: torch.optim.SGD([p], lr=0.1) for p in model.parameters()}
    for parameter in model.parameters():
        parameter.register_post_accumulate_grad_hook(lambda p: (optimizers[p].step(), optimizers[p].zero_grad())[0])
    with watch(model, every=1, path=path) as watcher:
        loss_of(model(*vectors(1)[0])).backward()
        watcher.step()
    found = rows(load_recording(path))
    assert sum(key.kind == "update" for key in found) == 4
    assert found[Key("a", "parameter_gradient", "weight")].norm > 0


def test_an_error_while_measuring_warns_once(path, monkeypatch):
    monkeypatch.setattr("modeldiagrams.watching.recorder.hooks.find_unit_dimension", lambda *_: 1 / 0)
    model = Mlp()
    with watch(model, every=2, path=path) as watcher, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        train(model, vectors(2), watcher)
    assert len([w for w in caught if "could not record a step: ZeroDivisionError" in str(w.message)]) == 1


def test_a_full_disk_ends_the_recording_and_not_the_training(path):
    """A limit on the size of files, in the middle of a frame: the rest of it can't be written."""
    model = Small()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    with watch(model, every=1, path=path) as watcher:
        train(model, images(2), watcher)
        resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 100, limits[1]))
        try:
            with pytest.warns(RuntimeWarning, match=r"stops recording at step 2: .*run\.mdwatch: File too") as caught:
                train(model, images(4), watcher)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert len(caught) == 1
        assert listened_to(model) == [model]
    assert load_recording(path).steps == (0, 1)


def test_compiled_models_run_eagerly_in_recorded_steps(path):
    torch._dynamo.reset()
    torch.manual_seed(0)
    model = Mlp()
    compiled = torch.compile(model, backend="aot_eager")
    graphs = torch._dynamo.utils.counters
    train(compiled, vectors(2))
    before = dict(graphs["stats"])
    with watch(compiled, every=2, path=path) as watcher:
        train(compiled, vectors(4), watcher)
    assert dict(graphs["stats"]) == before  # nothing was compiled again
    found = load_recording(path)
    assert {key.node for key in found.keys} == {"", "a", "act", "b"}
    assert found.notes == ("Compiled code runs without hooks: recorded steps ran without the compiler.",)
    assert found.steps == (0, 2)
    assert torch._dynamo.eval_frame._stance.stance == "default"
