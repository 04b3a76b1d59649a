from __future__ import annotations

import pytest

from modeldiagrams.common.class_facts import bases_of, full_name, module_of, name_of, qualified_name


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
    assert module_of(Silent) == __name__
    assert (name_of(INNER), qualified_name(INNER)) == ("Inner", "Silent.Inner")
    assert full_name(INNER) == f"{__name__}.Silent.Inner"
    assert bases_of(INNER) == (INNER, object)


def test_module_that_is_not_a_string_is_left_out():
    odd = type("Odd", (), {"__module__": 3})
    assert (module_of(odd), full_name(odd)) == ("", "Odd")
