"""Samplers: which samples make a batch, N classes and M samples of each."""
