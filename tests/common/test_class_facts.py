from __future__ import annotations

import pytest

from modeldiagrams.common.class_facts import find_module, get_full_name, get_qualified_name, list_bases, name_of


class Refuses(type):
    """Says nothing of its classes."""

    def __getattribute__(cls, name):
        raise RuntimeError(name)


class Silent(metaclass=Refuses):
    class Inner(metaclass=Refuses):
        pass


INNER = vars(type)["__dict__"].__get__(Silent)["Inner"]


def test_metaclass_is_not_asked():
    with pytest.raises(RuntimeError):
        _ = Silent.__module__
    assert find_module(Silent) == __name__
    assert (name_of(INNER), get_qualified_name(INNER)) == ("Inner", "Silent.Inner")
    assert get_full_name(INNER) == f"{__name__}.Silent.Inner"
    assert list_bases(INNER) == (INNER, object)


def test_module_that_is_not_a_string_is_left_out():
    odd = type("Odd", (), {"__module__": 3})
    assert (find_module(odd), get_full_name(odd)) == ("", "Odd")
