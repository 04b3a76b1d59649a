from hostile_ring_back import Model

__all__ = ["Model"]
