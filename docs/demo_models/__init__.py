"""Small models for the documentation."""

from demo_models.convolutional import DenseNet, Generator, Inception, SearchedNet, UNet
from demo_models.documented import Autoencoder
from demo_models.recurrent import LSTMClassifier, LSTMLoop
from demo_models.relational import GraphNetwork
from demo_models.residual import ResidualCNN, rings
from demo_models.several_ways import VAE, EarlyExit

__all__ = [
    "VAE",
    "Autoencoder",
    "DenseNet",
    "EarlyExit",
    "Generator",
    "GraphNetwork",
    "Inception",
    "LSTMClassifier",
    "LSTMLoop",
    "ResidualCNN",
    "SearchedNet",
    "UNet",
    "rings",
]
