"""aeon manifests and loader configurations: parsing and writing."""
