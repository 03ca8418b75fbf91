"""Fields: missions whose rules are a list of stages that the scenario chooses."""
