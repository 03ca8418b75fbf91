"""TRL's GRPOTrainer teaches a tiny language model Kuhn poker by self-play, on a CPU.

A Llama of some ten thousand parameters, random at first, reads the game's text word by word and
answers with one word. It imitates a random player, then plays both seats against itself. Every few
steps it is measured: what it earns against a random player, how often it answers with a word that
is no legal action, and how exploitable it is.

    pip install "trl==1.16.0" "transformers==5.23.0" torch
    python examples/trl_kuhn.py --steps 300 --seeds 0 1 2 --out trl_kuhn.json
"""

from __future__ import annotations

import argparse
import json
import os
import re
import time
from importlib.metadata import version
from pathlib import Path

os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")

import numpy as np
import torch
from datasets import Dataset
from tokenizers import Regex, Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast, TrainerCallback
from trl import GRPOConfig, GRPOTrainer

import manyhands
from manyhands.baselines.game_theory.policies import exploitability, tree_of
from manyhands.integrations.trl import Rollouts, opened, returns, rows
from manyhands.wrappers.text_seat import TextTable

WORD = r"\w+|[^\w\s]"
GAME = manyhands.make("kuhn_poker", detail="brief")


def decisions() -> dict[int, tuple[str, list[str]]]:
    """What there is to decide: information set -> what its player reads, and the legal words."""
    tree, found, seed = tree_of(GAME), {}, 0
    while len(found) < tree.num_infosets:
        table = TextTable(GAME)
        table.reset(seed)
        while not table.done:
            (i,) = table.waiting
            choices = [choice.text.split()[0] for choice in table.choices(i)]
            found[tree.find(table.view(i).vector, i)] = table.look(i), choices
            table.act(i, choices[np.random.default_rng(seed + i).integers(len(choices))])
        seed += 1
    return found


def tokenizer_of(texts: list[str]) -> PreTrainedTokenizerFast:
    words = sorted({word for text in texts for word in re.findall(WORD, text)})
    vocabulary = {word: i for i, word in enumerate(["[pad]", "[end]", "[unknown]", *words])}
    made = Tokenizer(models.WordLevel(vocabulary, unk_token="[unknown]"))
    made.pre_tokenizer = pre_tokenizers.Split(Regex(WORD), "removed", invert=True)
    return PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token="[pad]", eos_token="[end]", unk_token="[unknown]"
    )


class Measure(TrainerCallback):
    """Exact figures of the policy: its distribution at each decision is read off the model."""

    def __init__(self, tokenizer, every: int):
        self.tokenizer, self.every, self.curve, self.began = tokenizer, every, [], time.time()
        self.tree, self.decisions = tree_of(GAME), decisions()

    def measure(self, model, step: int) -> None:
        table, chances = np.zeros(self.tree.legal.shape), {}
        was = model.training
        model.eval()
        for number, (text, words) in self.decisions.items():
            ids = torch.tensor([opened(self.tokenizer, text)])
            with torch.no_grad():
                p = model(input_ids=ids).logits[0, -1].double().softmax(-1).numpy()
            chances[text] = p = p[self.tokenizer.convert_tokens_to_ids(words)]
            table[number, np.flatnonzero(self.tree.legal[number])] = p / p.sum()
        model.train(was)
        words_of = dict(self.decisions.values())
        rng, earned = np.random.default_rng(1), []
        for seat in (0, 1):  # by words, forfeits included
            game = manyhands.text_seat(GAME, seat, "random", retries=0)
            for seed in range(400):
                text = game.reset(seed)
                while not game.done:
                    p = chances[text]
                    k = rng.choice(len(p) + 1, p=[*p, max(0.0, 1 - p.sum())])
                    text, *_ = game.act([*words_of[text], "something else"][k])
                earned.append(game.total)
        row = {
            "step": step,
            "return_against_random": round(float(np.mean(earned)), 4),
            # Half of a 95 % interval, over the hands.
            "interval": round(1.96 * float(np.std(earned) / len(earned) ** 0.5), 4),
            "illegal": round(1 - float(np.mean([p.sum() for p in chances.values()])), 4),
            "exploitability": round(float(exploitability(self.tree, table)), 4),
            "seconds": round(time.time() - self.began, 1),
        }
        print(row, flush=True)
        self.curve.append(row)

    def on_train_begin(self, args, state, control, model=None, **_):
        self.measure(model, 0)

    def on_step_end(self, args, state, control, model=None, **_):
        if state.global_step % self.every == 0:
            self.measure(model, state.global_step)


def imitate(model, tokenizer, steps: int = 150) -> None:
    """Supervised learning first, as language models do: the answers of a random player, from which
    it learns which words are actions, and nothing about which are good."""
    pairs = [(text, word) for text, words in decisions().values() for word in words]
    prompts = [opened(tokenizer, text) for text, _ in pairs]
    width = max(map(len, prompts))
    pad = tokenizer.pad_token_id
    ids = torch.tensor([[pad] * (width - len(p)) + p for p in prompts])
    mask = torch.tensor([[0] * (width - len(p)) + [1] * len(p) for p in prompts])
    labels = torch.tensor(tokenizer.convert_tokens_to_ids([word for _, word in pairs]))
    optimizer = torch.optim.Adam(model.parameters(), 3e-3)
    for _ in range(steps):
        logits = model(input_ids=ids, attention_mask=mask).logits[:, -1]
        loss = torch.nn.functional.cross_entropy(logits, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def train(seed: int, steps: int, every: int = 20, out: str = "trl_out") -> list[dict]:
    torch.manual_seed(seed)
    torch.set_num_threads(1)  # so small a model is fastest so
    tokenizer = tokenizer_of([text for text, _ in decisions().values()])
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=48,
        intermediate_size=96,
        num_hidden_layers=1,
        num_attention_heads=4,
        max_position_embeddings=256,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        bos_token_id=None,
    )
    model = LlamaForCausalLM(config)
    imitate(model, tokenizer)
    measure = Measure(tokenizer, every)
    trainer = GRPOTrainer(
        model=model,
        reward_funcs=returns,
        args=GRPOConfig(
            output_dir=out,
            max_steps=steps,
            per_device_train_batch_size=64,
            num_generations=8,
            max_completion_length=1,
            learning_rate=2e-3,
            lr_scheduler_type="linear",
            beta=0.0,
            scale_rewards="batch",
            seed=seed,
            use_cpu=True,
            bf16=False,
            save_strategy="no",
            report_to="none",
            disable_tqdm=True,
            logging_steps=every,
        ),
        train_dataset=Dataset.from_list(rows(256, seed, seats=(0, 1))),
        processing_class=tokenizer,
        rollout_func=Rollouts(GAME, "self", show_rules=False, retries=0),
        callbacks=[measure],
    )
    trainer.train()
    return measure.curve


def rise(curves: list[list[dict]]) -> dict[str, float]:
    """How much the return against a random player has risen from the first to the last measurement:
    the mean of the runs, and half of a 95 % interval. All are measured on the same hands, so that
    runs do not narrow it; that a run's own first and last measurements share them would, and is not
    used."""
    gains = [c[-1]["return_against_random"] - c[0]["return_against_random"] for c in curves]
    halves = [(c[-1]["interval"] ** 2 + c[0]["interval"] ** 2) ** 0.5 for c in curves]
    return {
        "mean": round(float(np.mean(gains)), 4),
        "interval": round(float(np.mean(halves)), 4),
        "least": round(min(gains), 4),
    }


def versions() -> dict[str, str]:
    return {name: version(name) for name in ("trl", "transformers", "torch", "manyhands")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--every", type=int, default=20, help="steps between measurements")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    found: dict = {"steps": options.steps, "versions": versions(), "curves": {}}
    for seed in options.seeds:
        found["curves"][seed] = train(seed, options.steps, options.every)
        found["rise"] = rise(list(found["curves"].values()))
        print(found["rise"], flush=True)
        if options.out:
            options.out.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
