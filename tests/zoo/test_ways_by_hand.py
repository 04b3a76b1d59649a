"""What graphs say of the sides not taken, against 42 passes whose every side a person read before. Slow: `make zoo`."""

from __future__ import annotations

import pytest
import transformers

from ways_by_hand import transformers_models, vision_models
from ways_by_hand.score import READINGS, score, total
from zoo.apart import import_from_zoo

pytestmark = pytest.mark.filterwarnings("ignore")  # libraries warn about themselves


def test_libraries_are_the_releases_that_were_read():
    found = {name: import_from_zoo(name).__version__.partition("+")[0] for name in vision_models.RELEASES}
    read = {**vision_models.RELEASES, "transformers": transformers_models.RELEASE}
    assert {**found, "transformers": transformers.__version__} == read, "other code: read it again, or install these"


def test_graphs_say_what_a_person_read(report, share):
    scores = [score(reading) for reading in READINGS]
    for one in scores:
        one.tell(report)
    whole = total(scores)
    read = whole.found + len(whole.missed)
    share("sides not taken that a person read: in the graph", whole.found, read)
    share("sides not taken in the graph: read by a person", whole.found, whole.found + len(whole.invented))
    share("of these, waiting for what a person read", whole.found - len(whole.other_kinds), whole.found)
    recall, precision, kinds = whole.shares()
    assert read > 300
    assert recall >= 0.95
    assert precision >= 0.95
    assert kinds >= 0.9
