"""Configs."""

import copy

import yaml


class CfgNode(dict):
    def __getattr__(self, name):
        if name in self:
            return self[name]
        raise AttributeError(name)

    def __setattr__(self, name, value):
        self[name] = value

    def clone(self):
        return copy.deepcopy(self)

    def merge_from_other_cfg(self, other):
        for key, value in other.items():
            if key not in self:
                raise KeyError(f"Non-existent config key: {key}")
            if isinstance(value, dict):
                self[key].merge_from_other_cfg(value)
            else:
                self[key] = value

    def merge_from_file(self, cfg_filename):
        with open(cfg_filename) as f:
            self.merge_from_other_cfg(yaml.safe_load(f))

    def merge_from_list(self, cfg_list):
        for full_key, value in zip(cfg_list[0::2], cfg_list[1::2]):
            d = self
            *parents, leaf = full_key.split(".")
            for subkey in parents:
                d = d[subkey]
            d[leaf] = yaml.safe_load(value)


_C = CfgNode()

# ---------------------------------------------------------------------------- #
# Training options.
# ---------------------------------------------------------------------------- #
_C.TRAIN = CfgNode()
_C.TRAIN.ENABLE = True
_C.TRAIN.DATASET = "epickitchens"
_C.TRAIN.BATCH_SIZE = 64

# ---------------------------------------------------------------------------- #
# ResNet options
# ---------------------------------------------------------------------------- #
_C.RESNET = CfgNode()

# Transformation function.
_C.RESNET.TRANS_FUNC = "bottleneck_transform"

# Number of groups. 1 for ResNet, and larger than 1 for ResNeXt).
_C.RESNET.NUM_GROUPS = 1

# Width of each group (64 -> ResNet; 4 -> ResNeXt).
_C.RESNET.WIDTH_PER_GROUP = 64

# Number of weight layers.
_C.RESNET.DEPTH = 50

# Size of stride on different res stages.
_C.RESNET.SPATIAL_STRIDES = [1, 2, 2, 2]

# ---------------------------------------------------------------------------- #
# Model options
# ---------------------------------------------------------------------------- #
_C.MODEL = CfgNode()

# Model architecture.
_C.MODEL.ARCH = "slowfast"

# Model name
_C.MODEL.MODEL_NAME = "SlowFast"

# The number of classes to predict for the model: verbs and nouns.
_C.MODEL.NUM_CLASSES = [97, 300]

# Dropout rate before final projection in the backbone.
_C.MODEL.DROPOUT_RATE = 0.5

# Activation layer for the output head.
_C.MODEL.HEAD_ACT = "softmax"

# -----------------------------------------------------------------------------
# SlowFast options
# -----------------------------------------------------------------------------
_C.SLOWFAST = CfgNode()

# Corresponds to the inverse of the channel reduction ratio, $\beta$ between the Slow and Fast pathways.
_C.SLOWFAST.BETA_INV = 8

# Corresponds to the frame rate reduction ratio, $\alpha$ between the Slow and Fast pathways.
_C.SLOWFAST.ALPHA = 8

# Ratio of channel dimensions between the Slow and Fast pathways.
_C.SLOWFAST.FUSION_CONV_CHANNEL_RATIO = 2

# Kernel dimension used for fusing information from Fast pathway to Slow pathway.
_C.SLOWFAST.FUSION_KERNEL_SZ = 5

# -----------------------------------------------------------------------------
# Data options
# -----------------------------------------------------------------------------
_C.DATA = CfgNode()

# The path to the data directory.
_C.DATA.PATH_TO_DATA_DIR = ""

# The number of frames of the input clip.
_C.DATA.NUM_FRAMES = 32

# The spatial crop size of the input clip.
_C.DATA.CROP_SIZE = 112

# Input videos may has single or multiple pathways, list of channels of each.
_C.DATA.INPUT_CHANNEL_NUM = [3, 3]

_C.NUM_GPUS = 1
_C.OUTPUT_DIR = "./tmp"
_C.RNG_SEED = 1


def get_cfg():
    """
    Get a copy of the default config.
    """
    return _C.clone()
