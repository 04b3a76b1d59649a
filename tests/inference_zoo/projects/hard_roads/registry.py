class Registry:
    def __init__(self, name):
        self.name, self._modules = name, {}

    def register_module(self, cls=None):
        if cls is None:
            return self.register_module
        self._modules[cls.__name__] = cls
        return cls

    def build(self, cfg, **default_args):
        args = {**default_args, **cfg}
        kind = args.pop("type")
        if kind not in self._modules:
            raise KeyError(f"{kind} is not in the {self.name} registry")
        return self._modules[kind](**args)


BACKBONES, HEADS, SEGMENTORS = Registry("backbone"), Registry("head"), Registry("segmentor")
