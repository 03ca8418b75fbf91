"""TRL's GRPOTrainer, with a tiny random model and a tokenizer made here."""

import os
import pathlib

os.environ["TRL_EXPERIMENTAL_SILENCE"] = "1"

import pytest
import torch
import trl
from datasets import Dataset
from measure import legal, overhead
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from trl import GRPOConfig, GRPOTrainer

import manyhands
from manyhands.core.env import ConfigError
from manyhands.core.episode import episode_seed
from manyhands.integrations.trl import (
    Rollouts,
    environment_factory,
    returns,
    rows,
    tool_rows,
)

torch.set_num_threads(1)
GAME = manyhands.make("kuhn_poker", detail="brief")
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<tool_call>", "</tool_call>"]
SPECIAL += ["<think>", "</think>", "<tool_response>", "</tool_response>"]


@pytest.fixture(scope="module")
def tokenizer():
    """Bytes, in the chat template of Qwen 3, which has tools."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    made = Tokenizer(models.BPE(vocab={c: i for i, c in enumerate(letters)}, merges=[]))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    found = PreTrainedTokenizerFast(
        tokenizer_object=made, eos_token="<|im_end|>", pad_token="<|endoftext|>"
    )
    found.add_tokens(SPECIAL[1:], special_tokens=True)
    template = pathlib.Path(trl.__file__).parent / "chat_templates" / "qwen3.jinja"
    found.chat_template = template.read_text()
    return found


def model_of(tokenizer):
    torch.manual_seed(0)
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=16,
            intermediate_size=32,
            num_hidden_layers=1,
            num_attention_heads=2,
            max_position_embeddings=8192,
            bos_token_id=None,
            pad_token_id=tokenizer.pad_token_id,
            eos_token_id=tokenizer.eos_token_id,
        )
    )


def settings(tmp_path, **more):
    return GRPOConfig(
        output_dir=str(tmp_path),
        max_steps=1,
        per_device_train_batch_size=8,
        num_generations=4,
        max_completion_length=96,
        learning_rate=1e-3,
        beta=0.0,
        use_cpu=True,
        bf16=False,
        save_strategy="no",
        report_to="none",
        logging_steps=1,
        disable_tqdm=True,
        shuffle_dataset=False,
        **more,
    )


class Answers:
    """In place of the model: the answer `choose` gives to each text; notes what it reads."""

    def __init__(self, tokenizer, choose):
        self.tokenizer, self.choose, self.read, self.n = tokenizer, choose, [], 0

    def __call__(self, trainer, prompts):
        texts = [self.tokenizer.decode(ids) for ids in prompts]
        self.read.append(texts)
        self.n += len(texts)
        words = [self.choose(text, k) for k, text in enumerate(texts)]
        return [self.tokenizer(w + "<|im_end|>")["input_ids"] for w in words]


def trained(tokenizer, tmp_path, rollouts):
    model = model_of(tokenizer)
    kept = {}
    inner = rollouts.__call__

    def watched(prompts, trainer):
        kept.update(inner(prompts, trainer))
        return dict(kept)

    trainer = GRPOTrainer(
        model=model,
        reward_funcs=returns,
        args=settings(tmp_path),
        processing_class=tokenizer,
        train_dataset=Dataset.from_list(rows(4, 3, seats=(0, 1))),
        rollout_func=watched,
    )
    before = {name: p.detach().clone() for name, p in model.named_parameters()}
    trainer.train()
    moved = any(not torch.equal(before[name], p) for name, p in model.named_parameters())
    return kept, moved, trainer.state.log_history


def test_self_play(tokenizer, tmp_path):
    """Rows 0 to 3 are one deal from seat 0, rows 4 to 7 the same deal from seat 1."""
    answers = Answers(tokenizer, lambda text, k: legal(text)[k % 2])
    found, moved, log = trained(tokenizer, tmp_path, Rollouts(GAME, generate=answers))
    own = manyhands.text_seat(GAME, 0)
    first = own.reset(episode_seed(3, 0))
    assert all(first in text for text in answers.read[0])  # the seed reaches the game
    assert len(set(map(tuple, found["prompt_ids"][:4]))) == 1  # groups share a start
    assert len(set(found["game_return"])) > 1 and moved
    assert any(entry.get("reward_std", 0) > 0 for entry in log)
    for ids, mask in zip(found["completion_ids"], found["env_mask"], strict=True):
        assert len(ids) == len(mask)
        spoken = tokenizer.decode([t for t, m in zip(ids, mask, strict=True) if m])
        assert set(spoken.split("<|im_end|>")) <= {"", "check", "bet 1", "fold", "call 1"}
    assert not any(found["illegal"]) and not any(found["forfeited"])


def test_illegal_answers(tokenizer, tmp_path):
    answers = Answers(tokenizer, lambda text, k: "purple elephants" if k == 0 else legal(text)[0])
    rollouts = Rollouts(GAME, "random", generate=answers, retries=1)
    found, _, _ = trained(tokenizer, tmp_path, rollouts)
    assert found["illegal"][0] >= 1 and found["illegal"][-1] == 0
    long = Rollouts(GAME, "random", generate=answers, max_tokens=10)
    found, _, _ = trained(tokenizer, tmp_path, long)
    assert all(found["forfeited"]) and set(found["game_return"]) == {-1.0}


def test_transformers_generate(tokenizer, tmp_path):
    found, moved, _ = trained(tokenizer, tmp_path, Rollouts(GAME, "random", retries=0))
    assert set(found["forfeited"]) == {1.0} and set(found["game_return"]) == {-1.0}
    assert not moved  # nobody in a group did better


def test_tools(tokenizer, tmp_path):
    """`environment_factory`: a random model writes no tool calls, so they are put in its mouth."""
    model = model_of(tokenizer)
    act = '{"name": "act", "arguments": {"action": "%s"}}'
    calls = [f"<tool_call>\n{act % words}\n</tool_call><|im_end|>" for words in ("bet 1", "check")]
    forced = [tokenizer(call)["input_ids"] for call in calls]
    width = max(map(len, forced))
    forced = [ids + [tokenizer.pad_token_id] * (width - len(ids)) for ids in forced]

    def generate(*args, input_ids=None, **_):
        return torch.cat(
            [input_ids, torch.tensor([forced[k % 2] for k in range(len(input_ids))])], 1
        )

    model.generate = generate
    made = []
    factory = environment_factory(GAME, 0, "random")

    class Watched(factory):
        def __init__(self):
            super().__init__()
            self.starts = []
            made.append(self)

        def reset(self, **row):
            self.starts.append(super().reset(**row))
            return self.starts[-1]

    trainer = GRPOTrainer(
        model=model,
        args=settings(tmp_path, max_tool_calling_iterations=3),
        processing_class=tokenizer,
        train_dataset=Dataset.from_list(tool_rows(2, 3)),
        environment_factory=Watched,
    )
    trainer.train()
    starts = [env.starts[0] for env in made]
    assert len(starts) == 8 and len(set(starts[:4])) == 1
    expected = manyhands.text_seat(GAME, 0).reset(episode_seed(3, 0))
    assert expected in starts[0]
    (log,) = [entry for entry in trainer.state.log_history if "reward_std" in entry]
    assert log["reward_std"] > 0 and log["tools/failure_frequency"] == 0


def test_an_environment_that_is_never_used_has_forfeited():
    env = environment_factory(GAME, 0, "random")()
    env.reset(seed=1)
    assert env.get_reward() == -1.0
    assert "not accepted" in (env.reset(seed=1), env.act("purple elephants"))[1]


def test_overhead(tokenizer):
    class Trainer:
        processing_class = tokenizer

    answers = Answers(tokenizer, lambda text, k: legal(text)[0])
    rollouts = Rollouts(GAME, generate=answers)
    prompts = [row["prompt"] for row in rows(16, seats=(0, 1))]
    rollouts(prompts, Trainer)
    answers.n = 0
    with overhead("TRL rollouts, Kuhn poker, tokens included") as count:
        for _ in range(4):
            rollouts(prompts, Trainer)
        count.n = answers.n


def test_what_does_not_fit_is_said_at_once():
    for make in (environment_factory, Rollouts):
        with pytest.raises(ConfigError, match='"kitchen"'):
            make("kitchn")
