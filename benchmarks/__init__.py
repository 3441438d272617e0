"""How fast, how large, how even: figures as ratios, each against its peer in the same run.

    python -m benchmarks [--json FILE] [--only NAME] [--runs N] [--quick]

Inputs are made by the benchmark itself, in a folder that goes with it. Kernels are compiled and
files are in memory before anything is timed; peer and subject take turns. Figures are medians, with
the least and the most beside them.
"""
