"""What may be wrong with a suite as an instrument: one module a kind of doubt, all of them pure."""
