from nets.models import Block, Classifier, Reader, Tagger, TaggerConfig

__all__ = ["Block", "Classifier", "Reader", "Tagger", "TaggerConfig"]
