"""What an author says about the nodes of a graph, beside the graph."""
