"""The command line: options to one request, one core call, print, exit code. The only layer that prints."""
