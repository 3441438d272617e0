"""aeon manifests, caches and configurations: elements, datasets, builders and checks."""
