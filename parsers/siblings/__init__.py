"""Parse and write files of svmlight, SNNS, CNTK, MikeNet, emergent and Kaldi, which are read as
tables.
"""
