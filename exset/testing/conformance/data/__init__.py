"""The tables of declared cases, the meanings of all cases, and the schemas of meanings."""
