"""Policies for environments: spaces come from a simulator, the rest from YAML and a README."""

__all__ = ["agents.policies.GaussianPolicy", "agents.policies.VisuomotorPolicy"]
