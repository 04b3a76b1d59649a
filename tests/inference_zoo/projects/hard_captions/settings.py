from typing import Any, get_type_hints


class BaseSettings:
    """Fields by annotation, checked when they are given."""

    def __init__(self, **data: Any):
        hints = get_type_hints(type(self))
        unknown = set(data) - set(hints)
        if unknown:
            raise ValueError(f"extra fields not permitted: {sorted(unknown)}")
        for name in hints:
            if name in data:
                setattr(self, name, data[name])
            elif not hasattr(type(self), name):
                raise ValueError(f"field required: {name}")


class EncoderSettings(BaseSettings):
    name: str
    out_dim: int
    pretrained: bool = False


class DecoderSettings(BaseSettings):
    kind: str
    hidden: int
    layers: int = 1
    dropout: float = 0.1


class CaptionerSettings(BaseSettings):
    encoder: EncoderSettings
    decoder: DecoderSettings
    max_len: int = 20
