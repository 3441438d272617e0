"""Read and write files by a Construct declaration of your own, which the binary engine runs."""
