"""The fixed texts that candidate and judge are given, as digests: with other texts it is another experiment.

Written down here, so that an offline check need not load the texts; ``tests/locks/test_binding.py`` recomputes them.
Whoever changes a text changes its digest, and with it all evidence becomes evidence for another contract.
"""

from __future__ import annotations

from skillassay.contract.contract import Prompts

FIXED_PROMPTS = Prompts(
    candidate="43af284d51a1dc3607b0bd94fcd059d93117b18fe309cad299f1f00ba9174966",
    judge="94b3944829969b995c2b7d6c18d875b14704baacc5ca48eae56e5bdc118378d0",
)
"""Digests of the texts of :mod:`skillassay.prompts`, and of :mod:`skillassay.judging.judge` with
:mod:`skillassay.judging.behavior`."""
