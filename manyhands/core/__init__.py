"""The contract of an environment, and the machinery that every environment shares."""
