import json
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Feature:
    name: str
    kind: str
    cardinality: int = 0
    embedding_dim: int = 0
    max_len: int = 0


class Schema:
    """The columns of a table of interactions."""

    def __init__(self, features):
        self.features = list(features)

    @classmethod
    def from_file(cls, path):
        raw = json.loads(Path(path).read_text())
        return cls(Feature(**f) for f in raw["features"])

    def select(self, kind):
        return [f for f in self.features if f.kind == kind]

    @property
    def categorical(self):
        return self.select("categorical")

    @property
    def sequences(self):
        return self.select("sequence")

    @property
    def numeric(self):
        return self.select("numeric")

    def __len__(self):
        return len(self.features)
