"""Players for any environment: random ones, language models, trained networks, readers of texts."""
