"""Features in a JSON schema, models by registry, experiments in JSON that name their parts."""

__all__ = ["ranker.MultiDomainRanker", "ranker.SequenceRanker"]
