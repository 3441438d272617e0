"""The findings of sibling formats, and the patterns in a table that they store."""
