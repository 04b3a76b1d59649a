from .build import MODEL_REGISTRY, build_model
from .recipe import get_model
from .slowfast import SlowFast

__all__ = ["MODEL_REGISTRY", "SlowFast", "build_model", "get_model"]
