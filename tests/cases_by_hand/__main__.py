"""``python -m cases_by_hand [NAME…]`` from `tests`: on which models the union of their cases is true."""

from __future__ import annotations

import os
import sys
import time
import warnings

os.environ["HF_HUB_OFFLINE"] = "1"  # before transformers is imported
warnings.simplefilter("ignore")

from cases_by_hand.models import MODELS  # noqa: E402
from cases_by_hand.oracle import faults, fewest  # noqa: E402
from modeldiagrams.ir.cases import unite_cases  # noqa: E402

true = total = 0
for model in MODELS:
    if len(sys.argv) > 1 and not any(word.lower() in model.name.lower() for word in sys.argv[1:]):
        continue
    graphs = model.graphs()
    start = time.process_time()
    union = unite_cases(graphs)
    seconds = time.process_time() - start
    found = faults(graphs)
    true, total = true + (not found), total + 1
    sizes = " ".join(str(len(graph.nodes)) for graph in graphs.values())
    counts = f"{sizes:24} → {len(union.nodes):5} (at least {fewest(graphs)})"
    print(f"{model.name:28}{counts:54}{seconds:5.2f} s  {len(found) or 'true'}", flush=True)
    for fault in found:
        print(f"    {fault[:600]}")
print(f"{true} of {total} are true")
