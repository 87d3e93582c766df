#!/usr/bin/env python3
"""The command line from a checkout: `python run.py eval` is `skillassay eval` in the project's own environment."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from skillassay.launch import launch

launch(Path(__file__).parent)
