"""The processes that run models and that draw, so that no model can break the build, or the diagram of another.

`Worker` runs models. On Linux each has a process of its own, a fork (`template`, `forks`); elsewhere one process runs
all of them while they do no harm (`reuse`). `drawing` draws in a process in which no model ever ran. `process` is the
dialogue with a process and knows how it ended, `protocol` what is said; `answering` is the other side of it, `tracing`
what a model's process does.
"""

from modeldiagrams.worker.protocol import NO_TORCH, Kind, Mode, Problem, Refused, Traced
from modeldiagrams.worker.worker import Worker

__all__ = ["NO_TORCH", "Kind", "Mode", "Problem", "Refused", "Traced", "Worker"]
