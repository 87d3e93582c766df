"""Versions tied to bytes and evidence: the lock, its proof, its verdicts."""
