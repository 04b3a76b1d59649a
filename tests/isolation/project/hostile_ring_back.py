from hostile_ring import Model

__all__ = ["Model"]
