"""The evaluation contract: what is authored, and what a run freezes of it."""
