from .parcel import ParcelClassifier

MODELS = {}


def register(name):
    def wrap(fn):
        MODELS[name] = fn
        return fn

    return wrap


@register("pse_ltae")
def pse_ltae(cfg):
    return ParcelClassifier(cfg)


def get_model(cfg):
    cfg = dict(cfg)
    return MODELS[cfg.pop("name")](cfg)
