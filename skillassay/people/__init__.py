"""What named people say about a run: reviews, adjudications, waivers. Nothing recorded changes."""
