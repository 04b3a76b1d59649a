"""The tracer: one forward pass of a PyTorch model, recorded.

Interception is by torch's own protocol (a function mode) and by replacing a few methods for the time of one trace,
undone whatever happens. See `run` for the pipeline, `recorder` for what is written down, `finish` for the graph.
"""

from modeldiagrams.tracer.run import Mode, Trace, trace, trace_run

__all__ = ["Mode", "Trace", "trace", "trace_run"]
