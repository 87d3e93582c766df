"""Command-line agents: one port (:mod:`base`), one module an agent, and how one is started (:mod:`launching`)."""
