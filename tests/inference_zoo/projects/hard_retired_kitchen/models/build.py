"""Model construction functions."""

import torch


class Registry:
    def __init__(self, name):
        self._name = name
        self._obj_map = {}

    def register(self):
        def deco(func_or_class):
            name = func_or_class.__name__
            assert name not in self._obj_map, f"'{name}' was already registered in '{self._name}' registry!"
            self._obj_map[name] = func_or_class
            return func_or_class

        return deco

    def get(self, name):
        ret = self._obj_map.get(name)
        if ret is None:
            raise KeyError(f"No object named '{name}' found in '{self._name}' registry!")
        return ret


MODEL_REGISTRY = Registry("MODEL")
TRANS_REGISTRY = Registry("TRANS")


def build_model(cfg):
    """
    Builds the video model.
    Args:
        cfg (configs): configs that contains the hyper-parameters to build the backbone.
    """
    # Construct the model
    name = cfg.MODEL.MODEL_NAME
    model = MODEL_REGISTRY.get(name)(cfg)
    if cfg.NUM_GPUS and torch.cuda.is_available():
        model = model.cuda(device=torch.cuda.current_device())
    return model
