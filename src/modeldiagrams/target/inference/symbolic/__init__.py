"""Symbolic tensors: what a forward says of its inputs is read off them before any pass."""
