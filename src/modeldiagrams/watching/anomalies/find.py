"""All anomalies of a recording, the most important first."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol

    from modeldiagrams.watching.file.records import Anomaly, Moment

    class Recorded(Protocol):
        """What `find_anomalies` asks of a recording."""

        moments: tuple[Moment, ...]
        noticed: tuple[Anomaly, ...]


__all__ = ["find_anomalies"]


def find_anomalies(recording: Recorded) -> Sequence[Anomaly]:
    """All anomalies of a recording."""
    return recording.noticed
