"""Planted faults are named first, at the right node and step; healthy trainings name none.

Long because it is a list of trainings, each with a fault of its own.
"""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from modeldiagrams import load_recording, watch
from modeldiagrams.watching.anomalies.jumps import format_factor

STEP, STEPS = 8, 14


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.factor = factor
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        return gradient * ctx.factor, None


class Layer(nn.Module):
    """A linear layer that can be made faulty."""

    def __init__(self, inner):
        super().__init__()
        self.inner, self.fault = inner, None

    def forward(self, x):
        out = self.inner(x)
        return out if self.fault is None else self.fault(out)


class Mlp(nn.Sequential):
    def __init__(self):
        super().__init__(*(nn.Sequential(Layer(nn.Linear(16, 16)), nn.ReLU()) for _ in range(4)), nn.Linear(16, 4))

    layer, act, before_act = "2.0", "2.1", "2.0.inner"

    def batch(self):
        return torch.randn(32, 16)


class Cnn(nn.Sequential):
    def __init__(self):
        blocks = [
            nn.Sequential(Layer(nn.Conv2d(8 if i else 3, 8, 3, padding=1)), nn.BatchNorm2d(8), nn.ReLU())
            for i in range(4)
        ]
        super().__init__(*blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 4))

    layer, act, before_act = "1.0", "1.2", "1.1"

    def batch(self):
        return torch.randn(8, 3, 8, 8)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.attention = nn.LayerNorm(16), nn.MultiheadAttention(16, 2, batch_first=True)
        self.norm2, self.up, self.act, self.down = (
            nn.LayerNorm(16),
            Layer(nn.Linear(16, 32)),
            nn.ReLU(),
            nn.Linear(32, 16),
        )

    def forward(self, x):
        y = self.norm1(x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        return x + self.down(self.act(self.up(self.norm2(x))))


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.blocks = nn.Embedding(20, 16), nn.ModuleList(Block() for _ in range(2))
        self.norm, self.head = nn.LayerNorm(16), nn.Linear(16, 20)

    layer, act, before_act = "blocks.1.up", "blocks.1.act", "blocks.1.up.inner"

    def batch(self):
        return torch.randint(0, 20, (8, 6))

    def forward(self, x):
        x = self.embed(x)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


MODELS = (Mlp, Cnn, Transformer)


def train(model, path, fault=None, *, optimizer=None, steps=STEPS):
    """Train with a fault that is planted in some step."""
    optimizer = optimizer or torch.optim.AdamW(model.parameters(), lr=1e-3)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    with watch(model, every=1, path=path) as watcher:
        for step in range(steps):
            batch = model.batch()
            if step == STEP and fault:
                batch = fault(model, optimizer, batch)
            out = model(batch)
            target = torch.zeros(out.shape[:-1], dtype=torch.long)
            loss = nn.functional.cross_entropy(out.reshape(-1, out.shape[-1]), target.reshape(-1))
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1e9)
            optimizer.step()
            optimizer.zero_grad()
            scheduler.step()
            watcher.step(loss)
    return load_recording(path)


def layer(model):
    return model.get_submodule(model.layer)


def plant(change):
    def fault(model, _, batch):
        layer(model).fault = change
        return batch

    return fault


def one_nan(out):
    out = out.clone()
    out.view(-1)[3] = math.nan
    return out


def infinite_weight(model, _, batch):
    with torch.no_grad():
        layer(model).inner.weight.view(-1)[5] = math.inf
    return batch


def dead(model, _, batch):
    with torch.no_grad():
        model.get_submodule(model.before_act).bias.fill_(-100)
    return batch


def grown_weight(model, _, batch):
    with torch.no_grad():
        layer(model).inner.weight *= 60
    return batch


def faster(_, optimizer, batch):
    for group in optimizer.param_groups:
        group["lr"] *= 100
        group["initial_lr"] *= 100
    return batch


def frozen(model, optimizer, batch):
    own = {id(parameter) for parameter in layer(model).parameters()}
    for group in optimizer.param_groups:
        group["params"] = [parameter for parameter in group["params"] if id(parameter) not in own]
    return batch


FAULTS = {
    "nan": (plant(one_nan), "nonfinite", "layer"),
    "weight": (infinite_weight, "nonfinite", "inner"),
    "backward": (plant(lambda out: Scaled.apply(out, math.nan)), "nonfinite", "inner"),
    "exploding": (plant(lambda out: Scaled.apply(out, 1e8)), "exploding", "layer"),
    "vanishing": (plant(lambda out: Scaled.apply(out, 1e-10)), "vanishing", "layer"),
    "dead": (dead, "dead", "act"),
    "frozen": (frozen, "frozen", "inner"),
    "grown weight": (grown_weight, "jump", "inner"),
    "grown activation": (plant(lambda out: out * 1000), "jump", "layer"),
    "rate": (faster, "jump", "model"),
}


@pytest.mark.parametrize(
    ("class_", "name"),
    [
        # each fault in one model, each model with several faults; the zoo has all pairs
        pytest.param(class_, name, marks=() if i % len(MODELS) == j else pytest.mark.zoo)
        for j, class_ in enumerate(MODELS)
        for i, name in enumerate(FAULTS)
    ],
)
def test_a_fault_is_named_first(tmp_path, class_, name):
    torch.manual_seed(0)
    model = class_()
    fault, kind, place = FAULTS[name]
    found = train(model, tmp_path / "run.mdwatch", fault).anomalies
    node = {"layer": model.layer, "inner": f"{model.layer}.inner", "model": "", "act": model.act}[place]
    assert (found[0].kind, found[0].node, found[0].step) == (kind, node, STEP), found[:4]


@pytest.mark.parametrize("class_", MODELS)
@pytest.mark.parametrize("optimizer", [torch.optim.AdamW, torch.optim.SGD])
def test_a_healthy_training_has_none(tmp_path, class_, optimizer):
    torch.manual_seed(0)
    model = class_()
    rate = 1e-2 if optimizer is torch.optim.SGD else 1e-3
    found = train(model, tmp_path / "run.mdwatch", optimizer=optimizer(model.parameters(), lr=rate), steps=25)
    assert found.anomalies == ()


def trained(model, path, losses, *, steps=4, rate=1e-2):
    """Train with several losses, each of a tensor that the model returns; those in one group go back together."""
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)
    warmup = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(step, 1))
    with watch(model, every=1, path=path) as watcher:
        for _ in range(steps):
            out = model(torch.randn(8, 16))
            for group in losses(out):
                group.backward(retain_graph=True)
            optimizer.step()
            optimizer.zero_grad()
            warmup.step()
            watcher.step()
    return load_recording(path).anomalies


class Heads(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk, self.one, self.other = nn.Linear(16, 16), nn.Linear(16, 4), nn.Linear(16, 4)

    def forward(self, x):
        x = self.trunk(x).tanh()
        return self.one(x).square().mean(), self.other(x).square().mean()


@pytest.mark.parametrize("scale", [1e-9, 1e6])
@pytest.mark.parametrize("is_together", [True, False])
def test_losses_of_different_sizes_are_fine(tmp_path, scale, is_together):
    def losses(out):
        return [out[0] + scale * out[1]] if is_together else [out[0], scale * out[1]]

    torch.manual_seed(0)
    found = trained(Heads(), tmp_path / "run.mdwatch", losses, rate=1e-9)
    assert {anomaly.kind for anomaly in found} <= {"frozen"}  # a rate as small as that changes nothing in the other


@pytest.mark.parametrize("factor", [1e-10, 1e8])
def test_a_fault_in_one_of_two_branches(tmp_path, factor):
    def losses(out):
        return [out[1] + 1e-3 * out[0]]

    model = nn.Sequential(nn.Linear(16, 16), Heads())
    model[1].other = nn.Sequential(Layer(nn.Linear(16, 16)), nn.Linear(16, 4))
    model[1].other[0].fault = lambda out: Scaled.apply(out, factor)
    found = trained(model, tmp_path / "run.mdwatch", losses, rate=1e-5)
    (found,) = (anomaly for anomaly in found if anomaly.kind != "frozen")  # at such a rate small gradients do nothing
    assert (found.kind, found.node) == ("vanishing" if factor < 1 else "exploding", "1.other.0")


def test_generator_and_critic_in_one_model(tmp_path):
    """The critic's own loss has gradients a million times as large as those that reach the generator."""

    class Both(nn.Module):
        def __init__(self):
            super().__init__()
            self.generator, self.critic = nn.Linear(16, 16), nn.Sequential(nn.Linear(16, 16), nn.Linear(16, 1))

        def forward(self, x):
            made = self.generator(x)
            return self.critic(made.detach()).sum() * 1e3, self.critic(made).mean() * 1e-4

    torch.manual_seed(0)
    assert trained(Both(), tmp_path / "run.mdwatch", lambda out: out, rate=1e-5) == ()


class Zeros(nn.Module):
    def __init__(self, *, is_trained):
        super().__init__()
        self.is_trained = is_trained

    def forward(self, x):
        return x.sin() * 0 if self.is_trained else torch.zeros_like(x)


def test_gradients_are_not_compared_with_a_loss_computed_by_the_model(tmp_path):
    """Its gradient is 1, those of what it is the mean of are smaller by their number."""

    class Wide(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(16, 40_000)

        def forward(self, x):
            return self.layer(x).square().mean()

    assert trained(Wide(), tmp_path / "run.mdwatch", lambda out: [out], steps=3, rate=1) == ()


@pytest.mark.parametrize("is_trained", [True, False])
def test_zeros_without_units_are_dead_if_they_have_a_gradient(tmp_path, is_trained):
    class Masked(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.zeros, self.b = nn.Linear(16, 16), Zeros(is_trained=is_trained), nn.Linear(16, 4)

        def forward(self, x):
            x = self.a(x)
            return [self.b(x + self.zeros(x)).square().mean()]

    torch.manual_seed(0)
    found = trained(Masked(), tmp_path / "run.mdwatch", lambda out: out, steps=5)
    assert [(anomaly.kind, anomaly.node, anomaly.step) for anomaly in found] == ([("dead", "zeros", 2)] * is_trained)


def test_an_initial_learning_rate_of_zero_is_not_reported_as_dead(tmp_path):
    model = nn.Sequential(nn.Linear(16, 16), nn.Linear(16, 4), Loss())
    nn.init.zeros_(model[1].weight)
    nn.init.zeros_(model[1].bias)
    assert trained(model, tmp_path / "run.mdwatch", lambda out: [out], steps=2) == ()


class Loss(nn.Module):
    def forward(self, x):
        return (x - 1).square().mean()


class Wide(nn.Module):
    """An embedding of which a batch uses few rows, and a sample sees even fewer."""

    def __init__(self):
        super().__init__()
        self.embed, self.head = nn.Embedding(5000, 64), nn.Linear(64, 4)

    def forward(self, x):
        return [self.head(self.embed(x.argmax(-1))).square().mean()]


def test_an_embedding_is_not_frozen_if_the_sample_misses_its_changed_rows(tmp_path):
    torch.manual_seed(0)
    assert trained(Wide(), tmp_path / "run.mdwatch", lambda out: out, steps=8) == ()


def test_a_small_unchanged_embedding_is_frozen(tmp_path):
    torch.manual_seed(0)
    model = Wide()
    model.embed = nn.Embedding(20, 8)
    model.head = nn.Linear(8, 4)
    optimizer = torch.optim.SGD(model.head.parameters(), lr=1e-2)
    with watch(model, every=1, path=tmp_path / "run.mdwatch") as watcher:
        for _ in range(5):
            model.zero_grad()
            model(torch.randn(8, 16))[0].backward()
            optimizer.step()
            watcher.step()
    found = load_recording(tmp_path / "run.mdwatch").anomalies
    assert [(anomaly.kind, anomaly.node) for anomaly in found] == [("frozen", "embed")]


def test_alternating_optimizers_freeze_nothing(tmp_path):
    """Gradients of both are there in every recorded step, which is always the turn of the same."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 4))
    optimizers = [torch.optim.SGD(model[i].parameters(), lr=1e-2) for i in (0, 2)]
    with watch(model, every=2, path=tmp_path / "run.mdwatch") as watcher:
        for step in range(16):
            model.zero_grad()
            model(torch.randn(8, 16)).square().mean().backward()
            optimizers[step % 2].step()
            watcher.step()
    found = load_recording(tmp_path / "run.mdwatch")
    assert found.anomalies == ()
    assert {key.node for key in found.moments[-1].rows if key.kind == "update"} == {"0"}


@pytest.mark.parametrize("factor", [3.0, 5.0])
def test_gradients_that_grow_gradually_explode(tmp_path, factor):
    torch.manual_seed(0)
    model = nn.Sequential(*(Layer(nn.Linear(16, 16)) for _ in range(30)))
    for each in model:
        nn.init.orthogonal_(each.inner.weight)
        each.fault = lambda out: Scaled.apply(out, factor)
    found = trained(model, tmp_path / "run.mdwatch", lambda out: [out.square().mean()], rate=1e-30)
    (exploding,) = (anomaly for anomaly in found if anomaly.kind == "exploding")
    number = int(exploding.node.partition(".")[0])
    assert factor ** (29 - number) == pytest.approx(1e8, rel=10)
    assert exploding.step == 0


def test_depth_alone_does_not_explode(tmp_path):
    torch.manual_seed(0)
    model = nn.Sequential(*(nn.Sequential(nn.Linear(16, 16), nn.ReLU()) for _ in range(30)), nn.Linear(16, 4))
    for each in model[:-1]:
        nn.init.kaiming_normal_(each[0].weight, nonlinearity="relu")
    found = trained(model, tmp_path / "run.mdwatch", lambda out: [out.square().mean()], rate=1e-4)
    assert [anomaly for anomaly in found if anomaly.kind == "exploding"] == []


def test_parameters_shared_by_all_positions_do_not_explode(tmp_path):
    """Their gradient is the sum over all positions."""

    class Conditioned(nn.Module):
        def __init__(self):
            super().__init__()
            self.shift, self.head = nn.Linear(16, 4), nn.Conv2d(4, 4, 1)

        def forward(self, x):
            image = torch.ones(1, 4, 256, 256)
            return [self.head(image + self.shift(x[:1])[..., None, None]).mean()]

    torch.manual_seed(0)
    assert trained(Conditioned(), tmp_path / "run.mdwatch", lambda out: out) == ()


@pytest.mark.parametrize(
    ("factor", "text"), [(8.137, "8.14"), (99.96, "100"), (812.6, "813"), (8137.0, "8,140"), (8.137e9, "8,140,000,000")]
)
def test_factors_have_three_digits_and_no_exponent(factor, text):
    assert format_factor(factor) == text
