"""Small models written for the demo site, in the style of models people document."""

from demo_models.recurrent import LSTMClassifier
from demo_models.residual import ResidualCNN

__all__ = ["LSTMClassifier", "ResidualCNN"]
