"""The processes that run models and draw, so that no model can break the build or another model's diagram.

`Worker` runs models. On Linux, each runs in its own fork (`template`, `forks`); elsewhere, one process runs all of them
as long as they do no harm (`reuse`). `drawing` draws in a process that never runs models. `process` communicates with a
process and knows how it ended, `protocol` defines the messages, `answering` is the other side, and `tracing` is what a
model's process does.
"""

from modeldiagrams.worker.protocol import NO_TORCH, Kind, Mode, Problem, Refused, Traced
from modeldiagrams.worker.worker import Worker

__all__ = ["NO_TORCH", "Kind", "Mode", "Problem", "Refused", "Traced", "Worker"]
