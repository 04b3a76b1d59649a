"""Constructor arguments by how the constructor uses them."""
