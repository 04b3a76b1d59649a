"""Describes a graph as text for people and programs that read no pictures."""
