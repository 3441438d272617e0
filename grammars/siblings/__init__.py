"""Findings and tables of files of svmlight, SNNS, CNTK, MikeNet, emergent and Kaldi."""
