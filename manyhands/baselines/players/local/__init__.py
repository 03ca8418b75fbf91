"""Language models that run in this process, as players: the seat `local`.

`player.py` is the seat: prompts, the distribution over the legal choices, generation. `model.py`
says what it asks of a model; `torch_model.py` answers with any causal language model of
`transformers`, and is loaded only when a model is named.
"""

from manyhands.baselines.players.local.model import Model, Stream
from manyhands.baselines.players.local.player import Local

__all__ = ["Local", "Model", "Stream"]
