"""The authored side of a measurement: suites, cases, and what a case says about itself."""
