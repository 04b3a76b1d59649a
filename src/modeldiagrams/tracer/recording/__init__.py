"""Records what runs: ops, module calls, and on which threads."""
