"""Read and write files by the user's own Construct declaration, which the binary engine runs."""
