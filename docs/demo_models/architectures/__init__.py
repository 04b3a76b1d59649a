"""Architectures that no library of the documentation has, small and in the manner of their papers."""

from demo_models.architectures.classifiers import VGG, AlexNet, MobileNetV3
from demo_models.architectures.denoising import DiffusionUNet
from demo_models.architectures.fields import NeRF
from demo_models.architectures.folding import Evoformer
from demo_models.architectures.inputs import qwen2_vl_inputs
from demo_models.architectures.pixels import FeaturePyramid, HRNet
from demo_models.architectures.sequences import Seq2Seq, WaveNet

__all__ = [
    "VGG",
    "AlexNet",
    "DiffusionUNet",
    "Evoformer",
    "FeaturePyramid",
    "HRNet",
    "MobileNetV3",
    "NeRF",
    "Seq2Seq",
    "WaveNet",
    "qwen2_vl_inputs",
]
