"""Models once more, drawn at sizes where sizes coincide, fit no stride, or lie at a limit."""

from __future__ import annotations

from named_sizes import from_transformers, from_vision_libraries, own_images, own_others, own_sequences  # noqa: F401
from named_sizes.known import again

for name in ("AdaptivePool", "ASPP", "PoolingPyramid", "Rescaled", "PaddedWindows", "Squeeze", "Resized"):
    again(f"own {name}", "odd", B=3, H=53, W=77)
for name in (
    "AdaptivePool",
    "UNet",
    "ClassToken",
    "Anchors",
    "Queries",
    "Diffusion",
    "Stereo",
    "Video",
    "PaddedWindows",
):
    again(f"own {name}", "square", H=64, W=64)
for name in ("torchvision resnet18", "torchvision convnext_tiny", "timm resnet10t", "timm pvt_v2_b0"):
    again(name, "square", B=1, H=224, W=224)
again("torchvision resnet18", "odd", B=1, H=97, W=130)
again("torchvision squeezenet1_1", "odd", H=65, W=90)
again("transformers segformer", "square", B=1, H=224, W=224)
again("transformers resnet", "square", B=1, H=224, W=224)
for name in ("Strided 3", "Strided 5", "Strided 7"):
    again(f"own {name}", "square", H=224, W=224)
again("own Spectrogram", "odd", L=2000)
again("own WaveStrides", "odd", L=1607)
again("transformers wav2vec2", "odd", B=1, L=4001)
again("own CrossAttention", "one length", T=6, S=6)
again("own Translator", "all equal", S=4, T=4, B=4)
again("transformers t5", "one length", B=1, S=12, T=12)
again("own plain_function", "all equal", B=5, T=5, S=5)
again("own Messages", "as many edges as nodes", N=8, E=8)
again("own TwoTowers", "one batch", B=2, B2=2)
again("own LearntPositions", "at its limit", T=64)
again("transformers gpt2", "at its limit", B=1, T=64)
again("own SlicedPositions", "one token", B=1, T=1)
again("own Rotary", "one token", B=1, T=1)
again("own BuiltInLSTM", "one step", B=1, T=1)
again("own Chunks", "one chunk", B=1, T=8)
again("own Cache", "as many as features", B=4, T=6, P=6)
again("own Contrast", "pair", B=2)
again("own Neighbours", "fewest", B=5, N=5)
again("own Experts", "one", B=1)
again("own RelativeBias", "heads", B=4, T=6)
again("own Characters", "equal", B=8, T=8, C=8)
again("transformers bert", "one", B=1, T=64)
again("transformers llama", "heads", B=4, T=16)
again("transformers longformer", "one", B=1, T=8)
