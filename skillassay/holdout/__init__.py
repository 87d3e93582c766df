"""The hidden holdout: cases that nobody who writes a skill has seen."""
