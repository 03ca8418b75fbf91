"""The worlds: one folder a game."""
