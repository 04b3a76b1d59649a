"""How passes become one graph: which step of one is which of another."""
