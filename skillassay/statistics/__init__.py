"""Closed forms and exact tests, each with its source. Pure: they know neither trials nor modes."""
