"""The compiler of kernels; it alone imports Numba.

It runs when exset is built, for `exset doctor --compile`, and in a background process, but never in
a process that reads or writes files.
"""
