"""Make reports, differences, arrays, datasets, samplers and training batches from models.

A model is the content of a file as a Python object.
"""
