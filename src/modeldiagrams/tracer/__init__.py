"""The tracer: records one forward pass of a PyTorch model.

Torch's own protocol (a function mode) reports its calls; a few methods, listed in `patches.patch_table`, are replaced
during a trace. `forward_pass` is the pipeline, `recording.op_recorder` records, `graph.build_graph` builds the graph,
and `restore` undoes what a trace changed.

Limits:

- A Python number read from a tensor (``x.item()``) is not followed: an op that takes it has no edge from the read.
- If a module reads its input and then returns it unchanged, the value flows past the module.
- A `torch.autograd.Function` whose forward calls modules: the graph shows the modules, and one op after them if the
  function returns more than they do.
- Tensors that a thread started before the trace computes outside of modules and pools have no origin
  (`Status.unseen`).
- If the forward of an inner module is a generator, it runs when the caller asks for items, outside of the module call.
- If numpy writes to memory that it shares with a tensor, the tensor keeps the value that torch wrote last.
- Tensors read from a file, unpickled, or taken from a DLPack capsule (``to_dlpack(x)``) seem to be made there.
- The caches of `functools.lru_cache` are emptied only in the user's code and in packages that define the model's
  classes.
- Operators of C++ extensions are recorded only if costs are counted.
- Ops of several threads are recorded in the order in which they arrive.
"""

from modeldiagrams.tracer.fake.attempts import Mode
from modeldiagrams.tracer.forward_pass import Trace, check_arguments, trace, trace_run
from modeldiagrams.tracer.values.entry_calls import entered_by

__all__ = ["Mode", "Trace", "check_arguments", "entered_by", "trace", "trace_run"]
