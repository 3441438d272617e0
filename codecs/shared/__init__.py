"""Codecs that several formats share."""
