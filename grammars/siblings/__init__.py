"""Code for the pattern files of svmlight, SNNS, CNTK, MikeNet, emergent and Kaldi: findings,
patterns.
"""
