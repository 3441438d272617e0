"""Tables in tar archives (WebDataset), in TFRecord files and in MDS shards."""
