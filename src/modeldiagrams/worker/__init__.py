"""The processes that run models and draw, so that no model can break the build or another model's diagram.

`Worker` runs models. On Linux, each runs in its own fork (`template`, `forks`); elsewhere, one process runs all of them
as long as they do no harm (`reuse`). `drawing` draws in a process that never runs models. `process` communicates with a
process and knows how it ended, `protocol` defines the messages, `answering` is the other side, and `tracing` is what a
model's process does.
"""

import sys

from modeldiagrams.worker.protocol import NO_TORCH, Kind, Mode, Problem, Refused, Traced

# on other systems, PyTorch is not safe in forks, or there are none
if sys.platform == "linux":
    from modeldiagrams.worker.forks import Forks as Worker
else:
    from modeldiagrams.worker.reuse import Reuse as Worker

__all__ = ["NO_TORCH", "Kind", "Mode", "Problem", "Refused", "Traced", "Worker"]
