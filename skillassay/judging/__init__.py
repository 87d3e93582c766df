"""The judge: what it is asked, and how its reply is read."""
