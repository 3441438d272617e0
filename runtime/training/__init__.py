"""Datasets and batches for training, on NumPy, CuPy and PyTorch."""
