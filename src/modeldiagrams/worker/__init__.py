"""The processes that run models and draw, so that no model can break the build or another model's diagram.

`Worker` runs models, each in its own process: on Linux in a fork (`template`, `forks`), elsewhere in a new interpreter
(`spawns`). `drawing` draws in a process that never runs models. `process` communicates with a
process and knows how it ended, `protocol` defines the messages, `answering` is the other side, and `tracing` is what a
model's process does.
"""

import sys

from modeldiagrams.worker.protocol import NO_TORCH, Kind, ListedModels, ModelAnswer, Problem, Refused, Traced

# on other systems, PyTorch is not safe in forks, or there are none
if sys.platform == "linux":
    from modeldiagrams.worker.forks import Forks as Worker
else:
    from modeldiagrams.worker.spawns import Spawns as Worker

__all__ = ["NO_TORCH", "Kind", "ListedModels", "ModelAnswer", "Problem", "Refused", "Traced", "Worker"]
