"""A search goes on where code of ours raises: no test may hide that."""

import logging

import pytest

from modeldiagrams.resolve import skip_errors


@pytest.fixture(autouse=True)
def errors_of_ours(caplog):
    """Parts of the messages that a test expects, in order."""
    caplog.set_level(logging.DEBUG, logger=skip_errors.__name__)
    expected = []
    yield expected
    logged = [record.getMessage() for record in caplog.get_records("call") if record.name == skip_errors.__name__]
    assert len(logged) == len(expected), logged
    assert all(part in message for part, message in zip(expected, logged, strict=True)), logged
