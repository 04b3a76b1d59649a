from __future__ import annotations

import pytest

from architecture.rooms import MOST_ARROWS, arrows


@pytest.mark.parametrize("package", MOST_ARROWS)
def test_rooms_have_few_arrows(package: str) -> None:
    found = arrows(package)
    assert sum(map(len, found.values())) <= MOST_ARROWS[package], found


@pytest.mark.parametrize("package", MOST_ARROWS)
def test_no_two_rooms_import_each_other_even_through_others(package: str) -> None:
    found = arrows(package)
    order: list[str] = []
    while len(order) < len(found):
        ready = [room for room, imported in found.items() if room not in order and set(imported) <= set(order)]
        assert ready, f"a circle among {sorted(set(found) - set(order))}"
        order += ready
