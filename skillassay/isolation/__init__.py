"""Hostile programs: the rooms they run in, their limits, and how they are started and ended."""
