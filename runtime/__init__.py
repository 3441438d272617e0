"""Use models: reports, differences, arrays, datasets, samplers and batches for training."""
