"""Measure speed, memory and growth, each as a ratio to a peer in the same run.

    python -m benchmarks [--json FILE] [--only NAME] [--runs N] [--quick]

The benchmarks create their own inputs in a temporary folder. They compile kernels and load files
into memory before they measure; peer and subject take turns. Each figure is a median, with its
minimum and maximum.
"""
