"""What a graph is: its types, the rules it obeys and its JSON form. Knows nothing of the other rooms."""
