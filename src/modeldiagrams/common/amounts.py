"""Amounts as text, as `viewer/src/shared/amounts.ts` writes them; `tests/amounts.json` tests both."""

from __future__ import annotations

from math import floor

__all__ = ["add_sign", "format_bytes", "format_count", "format_flops", "format_time"]


def add_sign(sign: str | None, text: str) -> str:
    """Put a sign such as ``≤`` before an amount."""
    return f"{sign} {text}" if sign else text


def format_count(number: int) -> str:
    """Format a number of parameters: ``1.2B``."""
    digits, unit = _scale(number, ("", "K", "M", "B", "T"))
    return f"{digits}{unit}"


def format_flops(number: int) -> str:
    """Format a number of floating-point operations: ``4.09 G``."""
    return " ".join(_scale(number, ("", "k", "M", "G", "T", "P"))).rstrip()


def format_bytes(number: int) -> str:
    """Format an amount of memory: ``1.5 MiB``."""
    return " ".join(_scale(number, ("B", "KiB", "MiB", "GiB", "TiB"), 1024))


def format_time(nanoseconds: int) -> str:
    """Format a duration: ``4.09 ms``."""
    return " ".join(_scale(nanoseconds, ("ns", "µs", "ms", "s")))


def _scale(number: float, units: tuple[str, ...], step: int = 1000) -> tuple[str, str]:
    at = 0
    while number >= step - 0.5 and at + 1 < len(units):  # 999,500 is 1M, not 1000K
        number /= step
        at += 1
    factor = 100 if number < 9.995 else 10 if number < 99.95 else 1  # noqa: PLR2004  (three digits)
    rounded = floor(number * factor + 0.5) / factor
    return f"{rounded:.2f}".rstrip("0").rstrip("."), units[at]
