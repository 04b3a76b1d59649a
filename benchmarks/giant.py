"""``python -m benchmarks.giant``: traces DeepSeek-V3 (671 billion parameters) on the meta device; prints JSON."""

from __future__ import annotations

import json
import resource
from pathlib import Path

import torch
import transformers

import modeldiagrams
from benchmarks.measure import alternating


def main() -> None:
    transformers.logging.set_verbosity_error()
    torch.set_num_threads(1)
    config = transformers.DeepseekV3Config()  # with a cache: without, forward reads values of meta tensors
    with torch.device("meta"):
        model = transformers.DeepseekV3ForCausalLM(config).to(torch.bfloat16).eval()
        ids = torch.zeros(1, 64, dtype=torch.int64)
    graph = modeldiagrams.trace(model, (ids,))
    plain, traced = alternating(lambda: model(ids), lambda: modeldiagrams.trace(model, (ids,)), rounds=3)
    found = {"nodes": len(graph.nodes), "state": graph.status.state, "resident": most_resident_bytes()}
    print(json.dumps({**found, "plain": plain, "traced": traced}))


def most_resident_bytes() -> int:
    """Return the peak memory of this process; `getrusage` on Linux would include its parent's memory at the start."""
    status = Path("/proc/self/status")
    if status.exists():
        peak = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
        return int(peak.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    main()
