MODELS = {}


def register(cls):
    MODELS[cls.__name__] = cls
    return cls


def build_from_cfg(cfg, **extra):
    cfg = {**cfg, **extra}
    return MODELS[cfg.pop("type")](**cfg)
