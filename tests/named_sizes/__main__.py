"""``python -m named_sizes [NAME…] [--time]`` from `tests`: how well graphs know themselves at other sizes."""

from __future__ import annotations

import os
import sys
import traceback
import warnings

os.environ["HF_HUB_OFFLINE"] = "1"  # before transformers is imported
warnings.simplefilter("ignore")

from named_sizes import models  # noqa: E402
from named_sizes.judge import Judgement, judge  # noqa: E402
from named_sizes.summary import summary  # noqa: E402

names = [name.lower() for name in sys.argv[1:] if not name.startswith("--")]
print(f"{'':38}tensors  named/all wrong silent unknown passes", flush=True)
judgements = []
for known in models.MODELS.values():
    if names and not any(name in known.name.lower() for name in names):
        continue
    try:
        found = judge(known, timed="--time" in sys.argv)
    except Exception as error:  # noqa: BLE001 - one model that can't be judged hides no other
        traceback.print_exc()
        found = Judgement(known.name, oracle=[f"{type(error).__name__}: {error}"])
    judgements.append(found)
    print(found.row(), flush=True)
    for line in found.details():
        print(f"    {line[:400]}", flush=True)
print(*summary(judgements), sep="\n")
