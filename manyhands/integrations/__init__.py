"""Adapters to packages of others, one module each, imported by name only (docs/integrations.md)."""
