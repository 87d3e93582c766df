"""``python -m skillassay`` and the ``skillassay`` command."""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress

from skillassay.cli.main import main


def run() -> None:
    """Run the command line and leave with its exit code.

    Trials that were dropped (a second Ctrl-C, a full disk) may still wait for a slow server. The interpreter would join
    their threads at its end, so it does not get there.
    """
    code = main(sys.argv[1:])
    if any(not thread.daemon and thread is not threading.main_thread() for thread in threading.enumerate()):
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, AttributeError):
                stream.flush()
        os._exit(code)
    sys.exit(code)


if __name__ == "__main__":
    run()
