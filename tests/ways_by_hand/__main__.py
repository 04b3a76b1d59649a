"""``python -m ways_by_hand [NAME…]`` from `tests`: how well graphs say what a pass did not take."""

from __future__ import annotations

import os
import sys
import warnings

os.environ["HF_HUB_OFFLINE"] = "1"  # before transformers is imported
warnings.simplefilter("ignore")

from ways_by_hand.score import READINGS, score, total  # noqa: E402

print(f"{'':48} recall precis.  kinds")
scores = []
for reading in READINGS:
    if len(sys.argv) == 1 or any(word.lower() in reading.name.lower() for word in sys.argv[1:]):
        scores.append(score(reading))
        scores[-1].tell(lambda line: print(line, flush=True))
whole = total(scores)
print(f"all: {', '.join(f'{share:.1%}' for share in whole.shares())} of {whole.found + len(whole.missed)}")
