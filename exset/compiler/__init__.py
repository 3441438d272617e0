"""The compiler of kernels. No other package of exset imports Numba.

It runs when exset is built, for `exset doctor --compile`, and in a background process. It never
runs in a process that reads or writes files.
"""
