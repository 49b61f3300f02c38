"""Dependency trees: every word gets a head and a relation. README.md is the way in."""
