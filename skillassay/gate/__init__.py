"""The gate: its lines by theme, and the one place where they become a decision (:mod:`decide`)."""
