"""Sibling formats: files of svmlight, SNNS, CNTK and MikeNet, which are read as tables."""
