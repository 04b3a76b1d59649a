"""Architecture diagrams of PyTorch models that live in documentation and stay true."""
