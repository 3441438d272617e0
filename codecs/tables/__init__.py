"""Read and write tar archives (WebDataset), TFRecord files and MDS shards, which store tables."""
