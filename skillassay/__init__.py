"""skillassay measures whether an Agent Skill really helps, and ties its bytes to a version and a measurement."""

__version__ = "0.1.0"
