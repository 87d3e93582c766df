"""What this machine and this project have of what a run needs."""
