"""aeon manifests, caches and configurations: elements, datasets, building and checking."""
