"""Eight models of two releases of `transformers`: what an expert would say changed, and weights that really load."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest
import torch
from transformers.modeling_outputs import CausalLMOutputWithPast

import modeldiagrams
from modeldiagrams.ir.serialize import load
from zoo import release_models
from zoo.release_models import MODELS, logits, made

pytestmark = pytest.mark.filterwarnings("ignore")  # the library warns about itself

EARLIER = Path(sys.prefix) / "transformers-4.50"

NOW = next(field.name for field in fields(CausalLMOutputWithPast) if field.name in {"cache", "past_key_values"})
"""What the release that is installed calls the output; from 5.24 on ``cache``."""
CACHE = [
    f"breaking output renamed: past_key_values.key_cache[*] → {NOW}.layers[*].keys ×2",
    f"breaking output renamed: past_key_values.value_cache[*] → {NOW}.layers[*].values ×2",
]
TWO_CACHES = [
    f"breaking output renamed: past_key_values[*][{i}] → {NOW}.{which}_attention_cache.layers[*].{what} ×2"
    for i, (which, what) in enumerate((which, what) for which in ("self", "cross") for what in ("keys", "values"))
]
EXPERT = "MixtralBlockSparseTop2MLP"
BREAKING = {
    "bert": [],
    "gpt2": [
        f"breaking output renamed: past_key_values[*][0] → {NOW}.layers[*].keys ×2",
        f"breaking output renamed: past_key_values[*][1] → {NOW}.layers[*].values ×2",
    ],
    "llama": CACHE,
    "mixtral": [
        *CACHE,
        "breaking Linear replaced by MixtralTopKRouter ×2 at model.layers.*.mlp.gate",
        f"breaking {EXPERT} replaced by MixtralExperts ×2 at model.layers.*.mlp.experts (+36.9K parameters)",
        f"breaking {EXPERT} removed (experts.*) ×6 at model.layers.*.block_sparse_moe.experts.* (−36.9K parameters)",
        "breaking renamed: block_sparse_moe → mlp ×2 at model.layers.*.mlp",
        "breaking renamed: experts.* → experts ×2 at model.layers.*.mlp.experts",
    ],
    "qwen2": CACHE,
    "t5": TWO_CACHES,
    "vit": [
        "breaking ViTIntermediate replaced by ViTMLP ×2 at vit.layers.*.mlp (+4.16K parameters)",
        "breaking taken out of ViTEncoder, which is gone at vit.encoder",
        "breaking taken out of ViTSelfAttention, which is gone ×2 at vit.encoder.layer.*.attention.attention",
        "breaking taken out of ViTSelfOutput, which is gone ×2 at vit.encoder.layer.*.attention.output",
        "breaking taken out of ViTOutput, which is gone ×2 at vit.encoder.layer.*.output",
        "breaking moved: Linear vit.encoder.layer.*.output.dense → vit.layers.*.mlp.fc2 ×2 at vit.layers.*.mlp.fc2",
    ],
    "whisper": TWO_CACHES,
}
"""What old code or old weights stumble over; the rest is the same mathematics, written anew."""

NOTABLE = {"bert": 2, "gpt2": 2, "llama": 4, "mixtral": 5, "qwen2": 4, "t5": 14, "vit": 2, "whisper": 6}
"""At most so many lines; half of T5's are attention that became one op."""

VERDICTS = {"mixtral": "load-in-part", "vit": "load-after-renaming"}
SAME_COMPUTATION = {"vit"}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Graphs, weights and outputs of both releases."""
    found = tmp_path_factory.mktemp("earlier"), tmp_path_factory.mktemp("now")
    environment = {**os.environ, "PYTHONPATH": str(EARLIER)}
    subprocess.run([sys.executable, release_models.__file__, found[0]], check=True, env=environment)
    subprocess.run([sys.executable, release_models.__file__, found[1]], check=True)
    return found


@pytest.fixture(params=MODELS)
def pair(request, folders):
    """A model's name, what changed, and its weights and outputs before."""
    name = request.param
    earlier = torch.load(folders[0] / f"{name}.pt")
    return name, modeldiagrams.diff(*(load(folder / f"{name}.json") for folder in folders)), earlier


def test_reports_are_what_an_expert_would_say(pair, report):
    name, found, _ = pair
    assert found.reservations == ()
    told = [change for change in found.changes if change.level != "detail" and change.caused_by is None]
    notable = [change.text for change in told if change.level == "notable"]
    report(f"{name:8} 4.50 and now: {len(told)} lines, checkpoints {found.checkpoints.verdict}")
    assert [f"breaking {change.text}" for change in told if change.level == "breaking"] == BREAKING[name]
    assert len(notable) <= NOTABLE[name], notable
    assert found.same_computation == (name in SAME_COMPUTATION)


def test_weights_load_where_it_is_said(pair):
    name, found, earlier = pair
    assert found.checkpoints.verdict == VERDICTS.get(name, "load")
    assert found.checkpoints.ambiguous == ()
    assert found.checkpoints.other_role == ()
    if found.checkpoints.verdict == "load-in-part":
        with pytest.raises(modeldiagrams.ModelDiagramsError, match=r"there is no place for .*experts"):
            found.migrate(earlier["weights"])
        return
    model = made(name)
    model.load_state_dict(found.migrate(earlier["weights"]))
    torch.testing.assert_close(logits(model, name), earlier["logits"])
