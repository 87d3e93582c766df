"""A run: its plan, its trials, and the records that it leaves."""
