"""What `diff` says of code that was written anew, as between releases of `transformers`: little, and nothing untrue."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention

import modeldiagrams

X = torch.randn(1, 5, 8, generator=torch.Generator().manual_seed(0))


def graph(model, *inputs):
    return modeldiagrams.trace(model.eval(), inputs or (X,))


def lines(found):
    return [change.text for change in found.changes]


def model_of(forward, **modules):
    """A model with these modules, whose forward pass is a function."""

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            torch.manual_seed(0)
            for name, module in modules.items():
                self.add_module(name, module)

        def forward(self, x):
            return forward(self, x)

    return Model()


class Cached(nn.Module):
    """Each layer caches a key and a value; another release lists them otherwise."""

    def __init__(self, *, by_layer, empty):
        super().__init__()
        self.layers = nn.ModuleList(nn.ModuleDict({"k": nn.Linear(8, 8), "v": nn.Linear(8, 8)}) for _ in range(2))
        self.by_layer = by_layer
        self.empty = empty

    def forward(self, x):
        pairs = []
        for layer in self.layers:
            k, v = layer["k"](x), layer["v"](x)
            if self.empty:
                k, v = (torch.cat([torch.tensor([]), part], dim=-2) for part in (k, v))
            pairs.append((k, v))
            x = x + k.sigmoid() * v.tanh()
        if self.by_layer:
            return x, {"layers": [{"keys": k, "values": v} for k, v in pairs]}
        return x, {"key_cache": [k for k, _ in pairs], "value_cache": [v for _, v in pairs]}


@pytest.mark.parametrize("empty", [False, True], ids=["as they are", "after an empty cache"])
def test_renamed_outputs_are_matched_by_their_content(empty):
    found = modeldiagrams.diff(graph(Cached(by_layer=False, empty=False)), graph(Cached(by_layer=True, empty=empty)))
    told = [change for change in found.changes if change.level != "detail"]
    assert [(change.id, change.before, change.after, change.count) for change in told] == [
        ("output-renamed", "[1].key_cache[*]", "[1].layers[*].keys", 2),
        ("output-renamed", "[1].value_cache[*]", "[1].layers[*].values", 2),
    ]
    assert told[0].places[1] == ("output:[1].key_cache[1]", "output:[1].layers[1].keys")


def test_outputs_are_matched_by_their_position_in_a_split():
    """GPT-2 splits one projection; in another release its parts are reshaped in another order."""

    def parts(self, x):
        return self.qkv(x).split(8, dim=-1)

    def earlier(self, x):
        q, k, v = (part.view(1, 5, 2, 4).transpose(1, 2) for part in parts(self, x))
        return q @ k.mT @ v, ((k, v),)

    def later(self, x):
        q, k, v = parts(self, x)
        k, v, q = (part.view(1, 5, -1, 4).transpose(1, 2) for part in (k, v, q))
        return q @ k.mT @ v, {"values": v, "keys": k}

    found = modeldiagrams.diff(*(graph(model_of(one, qkv=nn.Linear(8, 24))) for one in (earlier, later)))
    renamed = {change.before: change.after for change in found.changes if change.id == "output-renamed"}
    assert renamed == {"[1][0][0]": "[1].keys", "[1][0][1]": "[1].values"}


def test_writing_the_default_scale_is_not_a_change():
    def attend(scale):
        return model_of(lambda self, x: scaled_dot_product_attention(self.q(x), x, x, scale=scale), q=nn.Linear(8, 8))

    assert modeldiagrams.diff(graph(attend(None)), graph(attend(8**-0.5))).same
    assert "scale" in str(modeldiagrams.diff(graph(attend(None)), graph(attend(1.0))))


@pytest.mark.parametrize(
    "rearranged",
    [
        lambda y: y.transpose(1, 2),
        lambda y: torch.transpose(y, -1, 1),
        lambda y: y.reshape(1, 5, 8).view(1, -1, 8).permute(0, 2, 1),
    ],
    ids=["method", "function", "with views"],
)
def test_equivalent_permutations_of_axes_are_equal(rearranged):
    def of(rearrange):
        return graph(
            model_of(lambda self, x: self.b(rearrange(self.a(x)).relu()), a=nn.Linear(8, 8), b=nn.Linear(5, 5))
        )

    found = modeldiagrams.diff(of(lambda y: y.permute(0, 2, 1)), of(rearranged))
    assert found.same_computation
    assert not found.reaches("notable")
    assert not modeldiagrams.diff(of(lambda y: y.permute(0, 2, 1)), of(lambda y: y.reshape(1, 8, 5))).same_computation


class Layer(nn.Module):
    def __init__(self, *, with_norm):
        super().__init__()
        self.linear = nn.Linear(8, 8)
        self.norm = nn.LayerNorm(8) if with_norm else nn.Identity()

    def forward(self, x):
        return x + self.norm(self.linear(x)).relu()


class Encoder(nn.Module):
    def __init__(self, **options):
        super().__init__()
        self.layer = nn.ModuleList(Layer(**options) for _ in range(3))

    def forward(self, x):
        for layer in self.layer:
            x = layer(x)
        return x


@pytest.mark.parametrize("is_mirrored", [False, True])
def test_layers_moved_out_of_their_container_keep_their_order(is_mirrored):
    """Though each of them changed, too."""

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.head(x)

    held = model_of(lambda self, x: self.head(self.encoder(x)), encoder=Encoder(with_norm=False), head=nn.Linear(8, 2))
    layers = nn.ModuleList(Layer(with_norm=True) for _ in range(3))
    sides = [graph(held), graph(model_of(forward, layers=layers, head=nn.Linear(8, 2)))]
    found = modeldiagrams.diff(*(sides[::-1] if is_mirrored else sides))
    renamed = {pair.before: pair.after for pair in found.checkpoints.renamed}
    expected = {
        f"encoder.layer.{i}.linear.{name}": f"layers.{i}.linear.{name}" for i in range(3) for name in ("bias", "weight")
    }
    assert renamed == ({value: key for key, value in expected.items()} if is_mirrored else expected)


def test_layers_split_into_two_are_replaced():
    """They are no layers that left a container, though there are several of both."""

    def model(*layers):
        norms = [nn.LayerNorm(8) for _ in range(4)]
        return graph(nn.Sequential(nn.Sequential(layers[0], nn.SiLU(), layers[1]), *norms))

    def factored():
        return nn.Sequential(nn.Linear(8, 3, bias=False), nn.Linear(3, 8))

    found = modeldiagrams.diff(model(nn.Linear(8, 8), nn.Linear(8, 8)), model(factored(), factored()))
    assert [(change.id, change.count) for change in found.changes if change.level != "detail"] == [("replaced", 2)]


def test_a_tied_weight_keeps_its_name_when_the_module_that_uses_it_changes():
    """T5 called `shared` twice; now encoder and decoder each call a module of their own with that weight."""

    def model(names):
        made = model_of(lambda self, x: self.b(getattr(self, names[0])(x)) + getattr(self, names[1])(x.flip(0)))
        made.b = nn.Linear(8, 8)
        for name in ("shared", "one", "other"):
            made.add_module(name, nn.Embedding(16, 8))
        made.one.weight = made.other.weight = made.shared.weight
        return made

    before, after = model(("shared", "shared")), model(("one", "other"))
    found = modeldiagrams.diff(*(graph(one, torch.arange(6)) for one in (before, after)))
    assert found.checkpoints.verdict == "load"
    assert found.checkpoints.ambiguous == ()
    after.load_state_dict(found.migrate(before.state_dict()))
    assert torch.equal(before(torch.arange(6)), after(torch.arange(6)))
