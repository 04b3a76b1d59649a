"""Prints which room imports from which, type-only imports included: ``make rooms``.

A room is a package, or a single file, directly inside `modeldiagrams` or `modeldiagrams.tracer`. Which way arrows may
point is import-linter's business (`pyproject.toml`); how many there are is counted here.
"""

from __future__ import annotations

import grimp

MOST_ARROWS = {"modeldiagrams": 75, "modeldiagrams.tracer": 21}
"""Package → how many arrows between its rooms are still easy to keep in mind.

53, and 21 of the rooms that were added since: `watching` knows only errors and files, `overlay` only errors and graphs;
diagrams come with them in documentation (`engine`) and outside (`api`). `record` knows options, graphs and files, and
traces; diagrams and the command line read what it wrote. In the tracer, `decisions` only runs passes again.
"""


def arrows(package: str) -> dict[str, list[str]]:
    """Room → the rooms it imports from.

    Args:
        package: The package whose direct children are the rooms. Its own ``__init__``, which only names what it
            offers, is none, nor is its ``__main__``, which only starts the command line.
    """
    graph = grimp.build_graph("modeldiagrams", cache_dir=None)
    rooms = sorted(graph.find_children(package) - {f"{package}.__main__"})
    for room in rooms:
        if graph.find_children(room):
            graph.squash_module(room)
    imported = {room: graph.find_modules_directly_imported_by(room) & set(rooms) - {room} for room in rooms}
    return {_name(room): sorted(map(_name, others)) for room, others in imported.items()}


def main() -> None:
    """Print every room of every package, with its arrows."""
    for package, most in MOST_ARROWS.items():
        found = arrows(package)
        print(f"{package}: {len(found)} rooms, {sum(map(len, found.values()))} arrows, at most {most}")
        for room, imported in found.items():
            print(f"  {room:<16} → {', '.join(imported) or '–'}")


def _name(module: str) -> str:
    return module.rpartition(".")[2]


if __name__ == "__main__":
    main()
