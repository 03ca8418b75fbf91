"""verl's own worker of agent loops, with its own configuration. In place of the inference server,
which needs a GPU, stands a scripted one; the tokenizer and the model's files are made here."""

import asyncio
import random

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from hydra import compose, initialize_config_module
from measure import legal, overhead, recipe
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM
from verl.experimental.agent_loop.agent_loop import AgentLoopWorker
from verl.protocol import DataProto
from verl.utils.dataset.rl_dataset import RLHFDataset, collate_fn
from verl.workers.rollout.replica import TokenOutput

import manyhands
from manyhands.core.episode import episode_seed
from manyhands.integrations.verl import rows
from manyhands.wrappers.text_seat import TextTable

torch.set_num_threads(1)
CHAT = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
PROMPT, RESPONSE = 3000, 1500


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model's folder: a tokenizer of bytes with a chat template, and random weights."""
    found = tmp_path_factory.mktemp("model")
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    made = Tokenizer(models.BPE(vocab={c: i for i, c in enumerate(letters)}, merges=[]))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=made, eos_token="<|im_end|>", pad_token="<|endoftext|>"
    )
    tokenizer.add_tokens(["<|im_start|>"], special_tokens=True)
    tokenizer.chat_template = CHAT
    tokenizer.save_pretrained(found)
    torch.manual_seed(0)
    config = Qwen2Config(
        vocab_size=len(tokenizer),
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=2,
    )
    Qwen2ForCausalLM(config).save_pretrained(found)
    return found


class Server:
    """Answers as `choose(text, request)` says, after a moment; notes what it was asked."""

    def __init__(self, choose):
        self.choose, self.read, self.tokenizer = choose, [], None
        self.now = self.most = 0

    async def generate(self, request_id, *, prompt_ids, sampling_params, **_):
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0.001)
        self.now -= 1
        text = self.tokenizer.decode(prompt_ids)
        self.read.append(text)
        last = text.rpartition("<|im_start|>user\n")[2].partition("<|im_end|>")[0]
        tokens = self.tokenizer(self.choose(last, text) + "<|im_end|>")["input_ids"]
        return TokenOutput(token_ids=tokens, log_probs=[-0.5] * len(tokens))


def worker_of(folder, loops, server, **more):
    """verl's worker, as its trainer makes it, in this process."""
    (folder / "loops.yaml").write_text(loops)
    settings = {
        "actor_rollout_ref.model.path": folder,
        "+actor_rollout_ref.model.override_config.attn_implementation": "eager",
        "actor_rollout_ref.rollout.name": "vllm",
        "actor_rollout_ref.rollout.prompt_length": PROMPT,
        "actor_rollout_ref.rollout.response_length": RESPONSE,
        "actor_rollout_ref.rollout.calculate_log_probs": True,
        "actor_rollout_ref.rollout.agent.agent_loop_config_path": folder / "loops.yaml",
        **more,
    }
    with initialize_config_module("verl.trainer.config", version_base=None):
        config = compose("ppo_trainer", [f"{name}={value}" for name, value in settings.items()])
    worker = AgentLoopWorker(config, server)
    server.tokenizer = worker.tokenizer
    return worker


def batch_of(worker, folder, episodes, n=1, **options):
    """What verl's trainer sends to a worker: its dataset reads our rows from a parquet file, and
    each is repeated `n` times. The number of a rollout is what verl's manager gives it."""
    path = folder / "rows.parquet"
    pq.write_table(pa.Table.from_pylist(rows(episodes, **options)), path)
    data = RLHFDataset(str(path), worker.tokenizer, worker.config.data)
    batch = DataProto.from_single_dict(collate_fn([data[k] for k in range(len(data))]))
    batch = batch.repeat(n, interleave=True)
    batch.non_tensor_batch["priority"] = np.arange(len(batch), dtype=np.int64)
    return batch


def scores(found):
    return found.batch["rm_scores"].sum(-1).tolist()


def first(last, text):
    return legal(last)[0]


LOOPS = """
- name: manyhands
  _target_: manyhands.integrations.verl.SeatLoop
  game: kuhn_poker
  partners: random
  options: {detail: brief, retries: 0}
"""


def test_seeds_scores_and_masks(folder):
    server = Server(first)
    worker = worker_of(folder, LOOPS, server)
    batch = batch_of(worker, folder, 3, n=4, seed=5, seats=(0, 1))
    found = asyncio.run(worker.generate_sequences(batch))
    assert len(found) == 24 and server.most > 1  # they go on together
    prompts = [
        worker.tokenizer.decode([t for t, m in zip(ids, mask, strict=True) if m])
        for ids, mask in zip(
            found.batch["prompts"].tolist(),
            found.batch["attention_mask"][:, :PROMPT].tolist(),
            strict=True,
        )
    ]
    game = manyhands.make("kuhn_poker")
    for k, prompt in enumerate(prompts):
        seed, seat = int(batch.non_tensor_batch["seed"][k]), int(batch.non_tensor_batch["seat"][k])
        assert seed == episode_seed(5, k // 8) and seat == (k // 4) % 2
        table = manyhands.text_seat(game, seat, "random", detail="brief", retries=0)
        expected = table.reset(seed, k)  # the partner of each rollout draws by its number
        assert f"{table.rules}\n\n{expected}" in prompt
        while not table.done:
            table.act(legal(table.look())[0])
        assert scores(found)[k] == table.total
    assert len(set(scores(found))) > 1
    # Trained on are exactly the words that the model wrote, each answer with its end.
    responses, mask = found.batch["responses"], found.batch["response_mask"].bool()
    for k in range(len(found)):
        said = worker.tokenizer.decode(responses[k][mask[k]])
        assert set(said.split("<|im_end|>")) <= {"check", "bet 1", "fold", "call", "call 1", ""}
        assert said.count("<|im_end|>") == (found.non_tensor_batch["__num_turns__"][k]) // 2
    assert (found.batch["rollout_log_probs"][mask] == -0.5).all()
    assert (found.batch["rollout_log_probs"][~mask] == 0).all()
    assert set(found.non_tensor_batch["illegal"]) == {0}


def test_illegal_answers_are_told_apart(folder):
    loops = LOOPS.replace("retries: 0", "retries: 1")
    worker = worker_of(folder, loops, Server(lambda last, text: "purple elephants"))
    batch = batch_of(worker, folder, 2, n=2)
    found = asyncio.run(worker.generate_sequences(batch))
    assert set(scores(found)) == {-1.0}
    assert set(found.non_tensor_batch["illegal"]) == {2}
    assert set(found.non_tensor_batch["forfeited"]) == {1.0}
    # A rollout that grows too long has forfeited, and is cut.
    short = {"actor_rollout_ref.rollout.response_length": 20}
    worker = worker_of(folder, loops, Server(lambda last, text: "purple elephants, grey"), **short)
    found = asyncio.run(worker.generate_sequences(batch_of(worker, folder, 1)))
    assert found.batch["responses"].shape == (1, 20)
    assert scores(found) == [-1.0] and set(found.non_tensor_batch["forfeited"]) == {1.0}


def test_against_itself(folder):
    """Each seat reads a conversation of its own, and several games do not disturb each other."""
    loops = LOOPS.replace("partners: random", "partners: self")
    server = Server(first)
    worker = worker_of(folder, loops, server)
    found = asyncio.run(worker.generate_sequences(batch_of(worker, folder, 4, seats=(0, 1))))
    alone = []
    for seed in (episode_seed(0, e) for e in range(4)):
        table = TextTable("kuhn_poker", detail="brief", retries=0)
        table.reset(seed)
        while not table.done:
            for i in table.waiting:
                table.act(i, legal(table.look(i))[0])
        alone += table.rewards.tolist()
    assert scores(found) == alone
    assert not any("You are player_0" in t and "You are player_1" in t for t in server.read)
    # Agents that act at once: the kitchen, both cooks by words.
    loops = LOOPS.replace("partners: random", "partners: self")
    loops = loops.replace("kuhn_poker", "kitchen").replace(
        "{detail: brief", "{layout: cramped_room, max_steps: 3, detail: brief"
    )
    rng = random.Random(0)
    worker = worker_of(folder, loops, Server(lambda last, text: rng.choice(legal(last))))
    found = asyncio.run(worker.generate_sequences(batch_of(worker, folder, 2)))
    assert found.non_tensor_batch["__num_turns__"].tolist() == [6, 6]
    assert set(found.non_tensor_batch["forfeited"]) == {0.0}


def test_the_recipe(folder, tmp_path, monkeypatch):
    """The page's file of loops and its rows run as they stand there."""
    monkeypatch.chdir(tmp_path)
    page = recipe("verl")
    page["write_rows"]("train.parquet", 2)
    assert len(pq.read_table("train.parquet")) == 4
    worker = worker_of(folder, page["yaml"], Server(first))
    data = RLHFDataset("train.parquet", worker.tokenizer, worker.config.data)
    batch = DataProto.from_single_dict(collate_fn([data[k] for k in range(len(data))]))
    found = asyncio.run(worker.generate_sequences(batch))
    assert len(scores(found)) == 4 and set(np.abs(scores(found))) <= {1.0, 2.0}


def test_overhead(folder):
    server = Server(first)
    worker = worker_of(folder, LOOPS.replace("partners: random", "partners: self"), server)
    batch = batch_of(worker, folder, 32, seats=(0, 1))
    asyncio.run(worker.generate_sequences(batch))
    server.read.clear()
    with overhead("verl rollouts, Kuhn poker, tokens included") as count:
        asyncio.run(worker.generate_sequences(batch))
        count.n = len(server.read)
