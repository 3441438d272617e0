"""What the pattern files of svmlight, SNNS, CNTK and MikeNet share: findings and patterns."""
