"""What a skills repository gets to begin with, written once and never over anything."""
