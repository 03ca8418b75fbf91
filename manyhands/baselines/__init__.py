"""Agents to play with and against."""
