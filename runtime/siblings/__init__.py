"""Files of related programs as tables: archives and data directories of Kaldi."""
