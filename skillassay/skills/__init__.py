"""Skills as they lie on disk: their text, their files, their digest, their version."""
