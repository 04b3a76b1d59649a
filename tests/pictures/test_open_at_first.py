"""What is open at first: an exemplar of the blocks that carry a model, before heads and wrappers, on one page.

`tests/zoo/test_open_at_first.py` asks the same of real models.

Long because it is a list of small models.
"""

from __future__ import annotations

import itertools
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import transformers
from torch import Tensor, nn

from gallery_models import MODELS
from modeldiagrams import trace
from modeldiagrams.options.options import View
from modeldiagrams.render.draw import Picture, render
from pictures.opened import opened

sys.path.insert(0, str(Path(__file__).parents[2] / "docs"))

from demo_models.architectures.folding import Evoformer


class Bottleneck(nn.Module):
    def __init__(self, width: int, out: int):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(width, out, 1), nn.BatchNorm2d(out)
        self.conv2, self.bn2 = nn.Conv2d(out, out, 3, padding=1), nn.BatchNorm2d(out)
        self.conv3, self.bn3 = nn.Conv2d(out, out, 1), nn.BatchNorm2d(out)
        self.downsample = nn.Conv2d(width, out, 1) if width != out else nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        y = torch.relu(self.bn1(self.conv1(x)))
        y = torch.relu(self.bn2(self.conv2(y)))
        return torch.relu(self.bn3(self.conv3(y)) + self.downsample(x))


class Staged(nn.Module):
    """Like a ResNet: stages of blocks, of which the first differs; a stem, and a head with layers of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.bn1, self.pool = nn.Conv2d(3, 4, 3, 2, 1), nn.BatchNorm2d(4), nn.MaxPool2d(2)
        widths = [4, 8, 12, 16, 20]
        for i, (width, out) in enumerate(itertools.pairwise(widths)):
            blocks = [Bottleneck(width, out), *(Bottleneck(out, out) for _ in range(i + 1))]
            setattr(self, f"layer{i + 1}", nn.Sequential(*blocks))
        self.head = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 10))

    def forward(self, x: Tensor) -> Tensor:
        x = self.pool(torch.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.head(x.mean((2, 3)))


class ConvNormAct(nn.Sequential):
    def __init__(self, width: int, out: int, size: int, groups: int = 1):
        super().__init__(nn.Conv2d(width, out, size, padding=size // 2, groups=groups), nn.BatchNorm2d(out), nn.ReLU())


class Inception(nn.Module):
    def __init__(self, width: int, out: int):
        super().__init__()
        self.branch1 = ConvNormAct(width, out, 1)
        self.branch2 = nn.Sequential(ConvNormAct(width, out, 1), ConvNormAct(out, out, 3))
        self.branch3 = nn.Sequential(ConvNormAct(width, out, 1), ConvNormAct(out, out, 5))

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([self.branch1(x), self.branch2(x), self.branch3(x)], 1)


class Tall(nn.Module):
    """Like GoogLeNet: a row of blocks that all differ, too long for a page with one open."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = ConvNormAct(3, 3, 3)
        self.blocks = nn.ModuleList(Inception(3 * max(1, i), i + 1) for i in range(19))
        self.head = nn.Linear(57, 10)

    def forward(self, x: Tensor) -> Tensor:
        x = self.stem(x)
        for block in self.blocks:
            x = block(x)
        return self.head(x.mean((2, 3)))


class InvertedResidual(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.block = nn.Sequential(
            ConvNormAct(width, 4 * width, 1),
            ConvNormAct(4 * width, 4 * width, 3, 4 * width),
            nn.Conv2d(4 * width, width, 1),
        )

    def forward(self, x: Tensor) -> Tensor:
        return x + self.block(x)


class Mobile(nn.Module):
    """Like an EfficientNet: blocks whose layers are in a sequence of their own, in stages in a sequence."""

    def __init__(self) -> None:
        super().__init__()
        stages = [nn.Sequential(nn.Conv2d(w, w + 4, 1), *(InvertedResidual(w + 4) for _ in range(3))) for w in (4, 8)]
        self.features = nn.Sequential(ConvNormAct(3, 4, 3), *stages)
        self.classifier = nn.Sequential(nn.Dropout(0.1), nn.Linear(12, 10))

    def forward(self, x: Tensor) -> Tensor:
        return self.classifier(self.features(x).mean((2, 3)))


class Attention(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.qkv(x).chunk(3, -1)
        return self.proj(nn.functional.scaled_dot_product_attention(q, k, v))


class Layer(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.norm1, self.attn = nn.LayerNorm(width), Attention(width)
        self.norm2, self.mlp = nn.LayerNorm(width), nn.Sequential(nn.Linear(width, 32), nn.GELU(), nn.Linear(32, width))

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class ReadingLayer(Layer):
    def forward(self, x: Tensor, memory: Tensor) -> Tensor:
        x = x + self.attn(self.norm1(memory + x))
        return x + self.mlp(self.norm2(x))


class Queries(nn.Module):
    """Like DETR's decoder: the state begins with zeros, which no picture shows, so the first layer has no residual."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(ReadingLayer(3) for _ in range(4))

    def forward(self, memory: Tensor) -> Tensor:
        x = torch.zeros_like(memory)
        for layer in self.layers:
            x = layer(x, memory)
        return x


class Stage(nn.Module):
    """Blocks in a row; a class that is called often and shows nothing itself."""

    def __init__(self, width: int, depth: int):
        super().__init__()
        self.blocks = nn.ModuleList(Layer(width) for _ in range(depth))
        self.grow = nn.Linear(width, width + 4)

    def forward(self, x: Tensor) -> Tensor:
        for block in self.blocks:
            x = block(x)
        return self.grow(x)


class Windows(nn.Module):
    """Like Swin."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Linear(3, 8)
        self.stages = nn.Sequential(Stage(8, 2), Stage(12, 2), Stage(16, 4))

    def forward(self, x: Tensor) -> Tensor:
        return self.stages(self.embed(x))


class Tower(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.embed = nn.Linear(3, width)
        self.layers = nn.Sequential(*(Layer(width) for _ in range(3)))

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(self.embed(x)).mean(1)


class TextTower(Tower):
    pass


class ImageTower(Tower):
    pass


class Towers(nn.Module):
    """Like CLIP."""

    def __init__(self) -> None:
        super().__init__()
        self.text, self.image = TextTower(8), ImageTower(12)
        self.join = nn.Linear(20, 4)

    def forward(self, text: Tensor, image: Tensor) -> Tensor:
        return self.join(torch.cat([self.text(text), self.image(image)], -1))


class ContrastiveLanguageTransformer(Tower):
    pass


class ContrastivePictureTransformer(Tower):
    pass


class BroadTowers(nn.Module):
    """Like a real CLIP: towers with long names, and a search for a token beside one of them."""

    def __init__(self) -> None:
        super().__init__()
        self.language_transformer = ContrastiveLanguageTransformer(8)
        self.picture_transformer = ContrastivePictureTransformer(12)
        self.language_projection, self.picture_projection = nn.Linear(8, 4), nn.Linear(12, 4)

    def forward(self, text: Tensor, image: Tensor) -> tuple[Tensor, ...]:
        language, picture = self.language_transformer(text), self.picture_transformer(image)
        one, other = self.language_projection(language), self.picture_projection(picture)
        return one @ other.T, one, other, language, picture


class Branches(nn.Module):
    """Like GoogLeNet's blocks, with branches of bare layers."""

    def __init__(self, width: int):
        super().__init__()

        def layers(*sizes: int) -> list[nn.Module]:
            found: list[nn.Module] = []
            for size in sizes:
                found += [nn.Conv2d(width, width, size, padding=size // 2), nn.BatchNorm2d(width), nn.ReLU()]
            return found

        self.point, self.small = nn.Sequential(*layers(1)), nn.Sequential(*layers(1, 3))
        self.large = nn.Sequential(*layers(1, 5))
        self.pooled = nn.Sequential(nn.MaxPool2d(3, 1, padding=1), *layers(1))
        self.join = nn.Conv2d(4 * width, width, 1)

    def forward(self, x: Tensor) -> Tensor:
        return self.join(torch.cat([self.point(x), self.small(x), self.large(x), self.pooled(x)], 1))


class Branching(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.Sequential(Branches(3), Branches(3))

    def forward(self, x: Tensor) -> Tensor:
        return self.blocks(x)


class Residual(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        layers = [[nn.BatchNorm2d(width), nn.ReLU(), nn.Conv2d(width, width, i, padding=i // 2)] for i in (1, 3, 1)]
        self.body = nn.Sequential(*itertools.chain.from_iterable(layers))

    def forward(self, x: Tensor) -> Tensor:
        return self.body(x) + x


class Hourglass(nn.Module):
    """Holds a smaller one, and that the next."""

    def __init__(self, depth: int, width: int):
        super().__init__()
        self.beside, self.before, self.after = Residual(width), Residual(width), Residual(width)
        self.inner = Hourglass(depth - 1, width) if depth > 1 else Residual(width)
        self.down, self.up = nn.MaxPool2d(2), nn.Upsample(scale_factor=2)

    def forward(self, x: Tensor) -> Tensor:
        return self.beside(x) + self.up(self.after(self.inner(self.before(self.down(x)))))


class Hourglasses(nn.Module):
    """Like a stacked hourglass, whose stem costs more than what is behind it."""

    def __init__(self, times: int):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 7, 2, 3), Residual(8), Residual(8), nn.MaxPool2d(2), Residual(8))
        self.hourglasses = nn.ModuleList(Hourglass(4, 8) for _ in range(times))
        self.heads = nn.ModuleList(nn.Conv2d(8, 4, 1) for _ in range(times))
        self.back = nn.ModuleList(nn.Conv2d(4, 8, 1) for _ in range(times - 1))

    def forward(self, x: Tensor) -> Tensor:
        x, maps = self.stem(x), []
        for i, hourglass in enumerate(self.hourglasses):
            y = hourglass(x)
            maps.append(self.heads[i](y))
            if i < len(self.back):
                x = x + y + self.back[i](maps[-1])
        return torch.stack(maps, 1)


class ManyEnds(nn.Module):
    """Five inputs of different kinds, fused by attention, and six outputs."""

    def __init__(self) -> None:
        super().__init__()
        self.text = nn.Embedding(100, 32)
        self.image = nn.Sequential(nn.Conv2d(3, 32, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.audio = nn.Sequential(nn.Conv1d(1, 32, 5), nn.ReLU(), nn.AdaptiveAvgPool1d(1), nn.Flatten())
        self.table, self.place = nn.Linear(12, 32), nn.Linear(2, 32)
        self.fuse = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True)
        sizes = {"genre": 10, "mood": 5, "tempo": 1, "year": 1, "artist": 50, "tags": 20}
        self.heads = nn.ModuleDict({name: nn.Linear(32, size) for name, size in sizes.items()})

    def forward(self, text: Tensor, image: Tensor, audio: Tensor, table: Tensor, place: Tensor) -> dict[str, Tensor]:
        parts = [self.text(text).mean(1), self.image(image), self.audio(audio), self.table(table), self.place(place)]
        fused = self.fuse(torch.stack(parts, 1)).mean(1)
        return {name: head(fused) for name, head in self.heads.items()}


IMAGE, LARGE_IMAGE = (torch.zeros(1, 3, 16, 16),), (torch.zeros(1, 3, 64, 64),)
TOKENS = torch.zeros(1, 5, 3)
PAGE, WIDEST = 740, 822
"""Width of a column, and of a picture whose labels of 10 px then have 9."""
TALLEST = 1800
"""Height of a picture that shows all stages and an open block."""
CASES = {
    "staged": (Staged, IMAGE, {"Bottleneck"}),
    "tall": (Tall, IMAGE, {"Inception"}),
    "mobile": (Mobile, IMAGE, {"InvertedResidual"}),
    "windows": (Windows, (TOKENS,), {"Stage", "Layer"}),
    "towers": (Towers, (TOKENS, TOKENS), {"TextTower", "ImageTower", "Layer"}),
    "broad towers": (
        BroadTowers,
        (TOKENS, TOKENS),
        {"ContrastiveLanguageTransformer", "ContrastivePictureTransformer", "Layer"},
    ),
    "branches": (Branching, IMAGE, {"Branches"}),
    "inception": (MODELS["inception"].make, LARGE_IMAGE, {"InceptionBlock"}),
    "searched": (MODELS["searched"].make, LARGE_IMAGE, {"SearchedCell"}),
    "hourglasses": (lambda: Hourglasses(2), LARGE_IMAGE, {"Hourglass"}),
    "evoformer": (Evoformer, (torch.zeros(6, 16, 23),), {"EvoformerBlock"}),
}


def picture(make: Callable[[], nn.Module], inputs: tuple[Tensor, ...]) -> Picture:
    return render(trace(make().eval(), inputs), View())


@pytest.mark.parametrize("name", CASES)
def test_an_exemplar_of_what_carries_the_model_is_open(name: str) -> None:
    make, inputs, expected = CASES[name]
    drawn = picture(make, inputs)
    assert expected <= set(opened(drawn.svg))
    assert drawn.width <= WIDEST
    assert drawn.height * min(1, PAGE / drawn.width) <= TALLEST


def test_what_holds_itself_is_open_more_than_once() -> None:
    assert (
        opened(picture(lambda: nn.Sequential(nn.Conv2d(3, 8, 1), Hourglass(4, 8)), LARGE_IMAGE).svg).count("Hourglass")
        > 1
    )


def test_the_layers_of_a_block_are_shown() -> None:
    expanded = picture(Mobile, IMAGE).state["expanded"]
    assert any(name.endswith(".block") for name in expanded)


def test_a_block_that_is_open_is_in_no_bundle_and_shows_all_of_its_layers() -> None:
    drawn = picture(Tall, IMAGE)
    assert drawn.bundled
    assert not any(name in members for name in drawn.state["expanded"] for members in drawn.bundled.values())
    assert not {member.rpartition(".")[2] for members in drawn.bundled.values() for member in members} & {"branch1"}


def test_a_head_is_not_open_before_a_block() -> None:
    assert "head" not in picture(Staged, IMAGE).state["expanded"]


def test_of_equal_blocks_the_one_is_open_that_stands_for_most() -> None:
    drawn = picture(Queries, (TOKENS,))
    assert "layers.1" in drawn.state["expanded"]
    assert opened(drawn.svg).count("ReadingLayer") == 1


def test_what_holds_nearly_all_of_a_block_is_open() -> None:
    heads = {"num_attention_heads": 4, "num_key_value_heads": 4, "q_lora_rank": 24, "kv_lora_rank": 16}
    heads |= {"qk_rope_head_dim": 8, "qk_nope_head_dim": 16, "v_head_dim": 16}
    sizes = {"hidden_size": 64, "intermediate_size": 128, "moe_intermediate_size": 32, "num_hidden_layers": 8}
    experts = {"n_routed_experts": 16, "n_group": 4, "topk_group": 2, "num_experts_per_tok": 4}
    config = transformers.DeepseekV3Config(**heads, **sizes, **experts, vocab_size=100, use_cache=False)
    drawn = picture(lambda: transformers.DeepseekV3ForCausalLM(config), (torch.zeros(1, 6, dtype=torch.int64),))
    assert {"DeepseekV3DecoderLayer", "DeepseekV3MoE"} <= set(opened(drawn.svg))
    assert drawn.width <= WIDEST
    assert drawn.height * min(1, PAGE / drawn.width) <= 1400


def test_a_short_legend_leaves_room_for_a_second_tower() -> None:
    layers = {f"{part}_{what}": 4 for part in ("encoder", "decoder") for what in ("layers", "attention_heads")}
    sizes = {"d_model": 64, "encoder_ffn_dim": 128, "decoder_ffn_dim": 128, "vocab_size": 1000}
    config = transformers.WhisperConfig(**layers, **sizes, pad_token_id=0, use_cache=False, max_source_positions=100)
    inputs = {"input_features": torch.zeros(1, 80, 200), "decoder_input_ids": torch.zeros(1, 16, dtype=torch.int64)}
    drawn = render(trace(transformers.WhisperForConditionalGeneration(config).eval(), (), inputs), View())
    assert {"WhisperEncoderLayer", "WhisperDecoderLayer"} <= set(opened(drawn.svg))
    assert drawn.height * min(1, PAGE / drawn.width) <= 1400


def test_a_backbone_from_elsewhere_is_closed_but_no_bundle_hides_it() -> None:
    backbone = transformers.ResNetConfig(
        embedding_size=16, hidden_sizes=[32, 64, 128, 256], depths=[2, 2, 2, 2], out_features=["stage4"]
    )
    sizes = {
        f"{part}_{what}": size for part in ("encoder", "decoder") for what, size in (("layers", 4), ("ffn_dim", 256))
    }
    config = transformers.DetrConfig(
        use_timm_backbone=False, backbone=None, backbone_config=backbone, d_model=128, **sizes
    )
    drawn = picture(lambda: transformers.DetrForObjectDetection(config), (torch.zeros(1, 3, 128, 128),))
    assert {"DetrEncoderLayer", "DetrDecoderLayer"} & set(opened(drawn.svg))
    assert not any("ResNet" in name for name in opened(drawn.svg))
    assert not any("backbone" in member for members in drawn.bundled.values() for member in members)


def test_stages_have_labels_of_one_form() -> None:
    """Whatever their weights: a count of three digits is longer than one of two."""
    details = re.findall(r">(Bottleneck ×\d+[^<]*)<", picture(Staged, IMAGE).svg)
    assert len(details) > 2
    assert all(re.fullmatch(r"Bottleneck ×\d+ · [\d.]+K?", detail) for detail in details)


def test_many_inputs_and_outputs_are_shown_where_there_is_room() -> None:
    inputs = (torch.zeros(1, 8, dtype=torch.int64), torch.zeros(1, 3, 32, 32), torch.zeros(1, 1, 100))
    drawn = picture(ManyEnds, (*inputs, torch.zeros(1, 12), torch.zeros(1, 2)))
    assert not drawn.bundled
    assert "TransformerEncoderLayer" in "".join(opened(drawn.svg))
