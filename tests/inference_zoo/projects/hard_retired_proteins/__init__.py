"""Contacts of residues by a language model: settings in YAML."""

__all__ = ["contact_model.ProteinContactModel"]
