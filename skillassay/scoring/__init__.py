"""From records to numbers. Pure: no file, no clock, no model."""
