"""Binary files of sibling formats: archives of Kaldi."""
