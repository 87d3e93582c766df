"""Rendering of assessed runs: one module a format. Computes nothing that is not in the assessment."""
