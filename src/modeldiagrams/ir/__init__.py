"""The graph: its types, rules, queries and JSON form. Imports no other room except `common`."""
