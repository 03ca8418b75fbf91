"""Scripted players in pure JAX."""
