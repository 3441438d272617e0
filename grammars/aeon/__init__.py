"""aeon manifests, cache blocks and loader configurations: their columns and findings."""
