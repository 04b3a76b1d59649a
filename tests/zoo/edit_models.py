"""Models of libraries to edit. Those held out were chosen before the comparison was looked at, and judged once."""

from __future__ import annotations

import torch

from edits.models import UNET
from edits.subject import Subject
from zoo import architectures
from zoo.apart import import_from_zoo


def of_transformers(kind: str) -> Subject:
    _, inputs = architectures.prepared(kind)
    return Subject(kind, lambda: architectures.prepared(kind)[0], lambda: dict(inputs))


def of_torchvision(name: str) -> Subject:
    models = import_from_zoo("torchvision").models
    return Subject(
        name, lambda: models.get_model(name, weights=None), lambda: _image("x"), None, lambda: _image("x", 96)
    )


def of_timm(name: str) -> Subject:
    timm = import_from_zoo("timm")
    return Subject(name, lambda: timm.create_model(name), lambda: _image("x"), None, lambda: _image("x", 96))


def _image(name: str, size: int = 64) -> dict[str, torch.Tensor]:
    return {name: torch.zeros(1, 3, size, size)}


MAKERS = {"transformers": of_transformers, "torchvision": of_torchvision, "timm": of_timm}
DEVELOPMENT = {
    "bert": "transformers",
    "gpt2": "transformers",
    "llama": "transformers",
    "t5": "transformers",
    "vit": "transformers",
    "convnext": "transformers",
    "resnet18": "torchvision",
    "mobilenet_v2": "torchvision",
}
HELD_OUT = {
    "deberta-v2": "transformers",
    "whisper": "transformers",
    "mamba": "transformers",
    "segformer": "transformers",
    "densenet121": "torchvision",
    "shufflenet_v2_x0_5": "torchvision",
    "regnety_002": "timm",
    "unet": "",
}


def subject(name: str) -> Subject:
    library = {**DEVELOPMENT, **HELD_OUT}[name]
    return MAKERS[library](name) if library else UNET
