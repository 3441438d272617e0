"""Code that every layer uses: errors, sources, limits, kernels, caches and processes."""
