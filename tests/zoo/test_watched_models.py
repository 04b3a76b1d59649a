"""Watching changes nothing in the training of models as people publish them, and all their files keep to a size."""

from __future__ import annotations

import pytest

from modeldiagrams import load_recording
from watching.training import changes_nothing
from zoo.architectures import prepared

KINDS = """
    bert gpt2 llama t5 bart vit swin convnext resnet mobilenet_v2 deit segformer whisper clip mamba mixtral
    deepseek_v3 rwkv dinov2 distilbert albert wav2vec2
"""
STEPS = 5


@pytest.mark.filterwarnings("ignore")  # those of transformers
@pytest.mark.parametrize("kind", KINDS.split())
def test_training_is_the_same_bit_for_bit(kind, tmp_path):
    inputs = prepared(kind)[1]
    path = tmp_path / "run.mdwatch"

    def make():
        return prepared(kind)[0].train()

    with changes_nothing(make, [inputs] * STEPS, path, every=2):
        found = load_recording(path)
    assert found.steps == (0, 2, 4)
    rows = sum(len(moment.rows) for moment in found.moments)
    assert rows > 30
    assert path.stat().st_size / rows <= 100
