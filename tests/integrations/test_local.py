"""Local language models with the real `transformers`: tiny networks with random weights, and a
tokenizer that is trained here on the worlds' own texts. Nothing is downloaded.

Not part of `make test`: it needs the extra `local`.
"""

from __future__ import annotations

import json

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

import manyhands  # noqa: E402
from manyhands.baselines.game_theory import judge  # noqa: E402
from manyhands.baselines.players.local import Local  # noqa: E402
from manyhands.baselines.players.local.torch_model import (  # noqa: E402
    PREFIXES,
    TransformersModel,
    load,
)
from manyhands.core.env import ConfigError, SeatError  # noqa: E402
from manyhands.core.episode import Game  # noqa: E402
from manyhands.core.record import read  # noqa: E402

TEMPLATE = (
    "{% for m in messages %}<|{{ m['role'] }}|>{{ m['content'] }}<|end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
NO_SYSTEM = "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no') }}{% endif %}"


def make_tokenizer(template=None):
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    kuhn = manyhands.make("kuhn_poker")
    views = Game(kuhn, 0).views
    texts = [views[0].rules, views[0].text, "ACTION: check\nACTION: bet 1\nACTION: call fold"] * 3
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    special = ["<s>", "</s>", "<|system|>", "<|user|>", "<|assistant|>", "<|end|>"]
    trainer = trainers.BpeTrainer(
        vocab_size=420,
        special_tokens=special,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    made = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>"
    )
    made.chat_template = template
    return made


def make_net(kind, vocabulary, context=4096):
    torch.manual_seed(1)
    shape = {"vocab_size": vocabulary, "num_hidden_layers": 2, "num_attention_heads": 2}
    size = {"hidden_size": 16, "intermediate_size": 32, "max_position_embeddings": context}
    if kind == "llama":
        config = transformers.LlamaConfig(**shape, **size, num_key_value_heads=1)
    elif kind == "gpt2":
        config = transformers.GPT2Config(
            vocab_size=vocabulary, n_layer=2, n_head=2, n_embd=16, n_positions=context
        )
    elif kind == "gemma":  # half of its layers see a window only
        config = transformers.Gemma3TextConfig(
            **{**shape, **size}, num_key_value_heads=1, head_dim=8, sliding_window=16,
            layer_types=["sliding_attention", "full_attention"],
        )  # fmt: skip
    else:  # recurrent
        config = transformers.MambaConfig(
            vocab_size=vocabulary, hidden_size=16, num_hidden_layers=2, state_size=4
        )
    net = transformers.AutoModelForCausalLM.from_config(config).float()
    with torch.no_grad():  # the usual scale of such weights leaves all tokens nearly equally likely
        for parameter in net.parameters():
            if parameter.dim() > 1:
                parameter.mul_(6)
    return net


@pytest.fixture(scope="module")
def tokenizer():
    return make_tokenizer()


@pytest.fixture(scope="module")
def folder(tokenizer, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "tiny"
    make_net("llama", len(tokenizer)).save_pretrained(path)
    tokenizer.save_pretrained(path)
    return path


def flat(found):
    return np.concatenate([row for rows in found for row in rows])


@pytest.mark.parametrize("kind", ["llama", "gpt2", "gemma"])
def test_a_cache_changes_nothing(kind, tokenizer):
    net = make_net(kind, len(tokenizer))
    cached, plain = (TransformersModel(net, tokenizer, kind, cache=c) for c in (True, False))
    assert cached.cached and not plain.cached
    rng = np.random.default_rng(0)
    prefix = rng.integers(6, 400, 40).tolist()
    tails = [rng.integers(6, 400, n).tolist() for n in (1, 7, 30, 30, 2)]
    answers = [[rng.integers(6, 400, n).tolist() for n in (1, 4, 2)[: 1 + k % 3]] for k in range(5)]
    expected = flat(plain.score(prefix, tails, answers, 16))
    assert np.std(expected) > 0.3  # the likelihoods differ by far more than by rounding
    for batch in (1, 2, 16):
        found = cached.score(prefix, tails, answers, batch)
        assert [[len(row) for row in rows] for rows in found] == [
            [len(row) for row in rows] for rows in answers
        ]
        np.testing.assert_allclose(flat(found), expected, atol=2e-4)
    # By hand, of one answer.
    tokens = [*prefix, *tails[1], *answers[1][1]]
    with torch.inference_mode():
        logp = net(torch.tensor([tokens])).logits[0].double().log_softmax(1)
    hand = [float(logp[len(prefix) + 6 + k, t]) for k, t in enumerate(answers[1][1])]
    np.testing.assert_allclose(cached.score(prefix, tails, answers, 3)[1][1], hand, atol=2e-4)
    # The prefix was computed once, and prompts without one work.
    before = cached.computed
    cached.score(prefix, tails[:1], [[[7]]], 1)
    assert cached.computed - before == 1
    np.testing.assert_allclose(
        flat(cached.score([], [prefix, [9]], [[[7]], [[8]]], 4)),
        flat(plain.score([], [prefix, [9]], [[[7]], [[8]]], 4)),
        atol=2e-4,
    )


def test_the_former_name_of_the_cache(tokenizer):
    """Before transformers 5.24 `cache` was `past_key_values`; a model without either has none."""
    net = make_net("llama", len(tokenizer))

    class Former(type(net)):
        def forward(
            self, input_ids, attention_mask=None, position_ids=None, past_key_values=None,
            use_cache=None, logits_to_keep=0,
        ):  # fmt: skip
            given = {} if past_key_values is None else {"cache": past_key_values}
            return super().forward(
                input_ids, attention_mask=attention_mask, position_ids=position_ids,
                use_cache=use_cache, logits_to_keep=logits_to_keep, **given,
            )  # fmt: skip

    class Without(type(net)):
        def forward(self, input_ids, attention_mask=None, use_cache=None):
            return super().forward(input_ids, attention_mask=attention_mask, use_cache=use_cache)

    prompts = [7, 8, 9], [[10, 11], [12]], [[[7, 9]], [[8]]], 4
    plain = TransformersModel(net, tokenizer, "tiny", cache=False).score(*prompts)
    for kind, cached in ((Former, True), (Without, False)):
        other = kind(net.config)
        other.load_state_dict(net.state_dict())
        model = TransformersModel(other, tokenizer, "tiny")
        assert model.cached == cached
        np.testing.assert_allclose(flat(model.score(*prompts)), flat(plain), atol=2e-4)


def test_memory_is_bounded(tokenizer):
    model = TransformersModel(make_net("llama", len(tokenizer)), tokenizer, "tiny")
    for k in range(PREFIXES + 5):
        model.score([7, 8 + k], [[9]], [[[7]]], 1)
    assert len(model._prefixes) == PREFIXES


@pytest.mark.parametrize("kind", ["llama", "gpt2", "gemma", "mamba"])
def test_replies_go_on_from_their_own_prompt(kind, tokenizer):
    """Rows of different lengths, some of which end early, against one row at a time."""
    model = TransformersModel(make_net(kind, len(tokenizer)), tokenizer, kind)
    assert model.cached == (kind != "mamba")
    rng = np.random.default_rng(1)
    prefix = rng.integers(6, 400, 20).tolist()
    tails = [rng.integers(6, 400, n).tolist() for n in (3, 25, 1)]
    stream = model.start(prefix, tails)
    rows = [[*prefix, *tail] for tail in tails]
    for keep in ([0, 1, 2], [0, 2], [1]):
        with torch.inference_mode():
            alone = [model.net(torch.tensor([row])).logits[0, -1].numpy() for row in rows]
        np.testing.assert_allclose(stream.logits, alone, atol=2e-4)
        tokens = [int(stream.logits[k].argmax()) for k in keep]
        rows = [[*rows[k], token] for k, token in zip(keep, tokens, strict=True)]
        stream.push(keep, tokens)
    assert stream.logits.shape[0] == 1


def test_a_model_without_a_plain_cache_scores(tokenizer):
    model = TransformersModel(make_net("mamba", len(tokenizer)), tokenizer, "mamba")
    found = model.score([7, 8], [[9, 10], [11]], [[[12, 13], [14]], [[15]]], 2)
    with torch.inference_mode():
        logp = model.net(torch.tensor([[7, 8, 9, 10, 12]])).logits[0].double().log_softmax(1)
    np.testing.assert_allclose(found[0][0], [logp[3, 12], logp[4, 13]], atol=2e-4)


def test_chat_templates():
    model = TransformersModel(make_net("llama", 420), make_tokenizer(TEMPLATE), "chat")
    messages = [{"role": "system", "content": "R"}, {"role": "user", "content": "be <|end|> good"}]
    text = model.render(messages, "ACTION:")
    assert text == "<|system|>R<|end|>\n<|user|>be < |end|> good<|end|>\n<|assistant|>ACTION:"
    assert model.ending == "<|end|>\n" and model.chats
    assert model.encode([text])[0].count(model.tokenizer.convert_tokens_to_ids("<|end|>")) == 2
    # A template that knows no system message gets it with the first one of the user.
    model = TransformersModel(make_net("llama", 420), make_tokenizer(NO_SYSTEM + TEMPLATE), "chat")
    assert model.render(messages, "").startswith("<|user|>R\n\nbe < |end|> good<|end|>")
    # Without a template: a transcript.
    model = TransformersModel(make_net("llama", 420), make_tokenizer(), "plain")
    assert model.render(messages, "ACTION:") == (
        "Rules: R\n\nGame: be < |end|> good\n\nPlayer: ACTION:".replace("< |end|>", "< |end|>")
    )
    assert model.ending == "\n" and not model.chats


@pytest.mark.parametrize("template", [None, TEMPLATE], ids=["transcript", "chat"])
def test_seat_plays_and_is_judged(template, tmp_path):
    tokenizer = make_tokenizer(template)
    path = tmp_path / "tiny"
    make_net("llama", len(tokenizer)).save_pretrained(path)
    tokenizer.save_pretrained(path)
    env = manyhands.make("kuhn_poker")
    seat = manyhands.seat(f"local:model={path}", env)
    result = manyhands.play(env, [seat, "random"], 20, record=tmp_path / "r.jsonl", rotate=True)
    assert len(result.episodes) == 20 and result.refused(0) == (0, 0)
    steps = [step for episode in read(tmp_path / "r.jsonl") for step in episode.steps]
    infos = [info for step in steps for info in step.turn.info.values()]
    assert infos and all(np.isclose(sum(info["policy"]), 1) for info in infos)
    verdict = judge(env, seat)
    assert verdict.exact.all() and 0 < verdict.exploitability < 2
    again = judge(env, Local(env, str(path), batch=3))
    np.testing.assert_allclose(again.policy, verdict.policy, atol=1e-4)


@pytest.mark.parametrize("constrained", [True, False])
def test_seat_generates(constrained, folder, tmp_path):
    env = manyhands.make("leduc_holdem")
    seat = Local(env, folder, mode="generate", constrained=constrained, max_tokens=12, retries=1)
    result = manyhands.play(env, seat, 3, record=tmp_path / "r.jsonl", concurrency=3)
    illegal = sum(sum(episode.illegal) for episode in result.episodes)
    assert (illegal == 0) == constrained
    for episode in read(tmp_path / "r.jsonl"):
        for info in (info for step in episode.steps for info in step.turn.info.values()):
            json.dumps(info)
            assert info["completion_tokens"] >= len(info["attempts"])


def test_loading(folder, tmp_path, tokenizer):
    assert load(str(folder)) is load(str(folder))  # several seats share it
    env = manyhands.make("kuhn_poker")
    with pytest.raises(ConfigError, match="dtype"):
        Local(env, folder, dtype="float8")
    with pytest.raises(SeatError, match="cuda:77"):
        Local(env, folder, device="cuda:77")
    with pytest.raises(SeatError, match="empty"):
        (tmp_path / "empty").mkdir()
        Local(env, tmp_path / "empty")
    # Pickled weights are not read.
    net = make_net("llama", len(tokenizer))
    pickled = tmp_path / "pickled"
    net.config.save_pretrained(pickled)
    tokenizer.save_pretrained(pickled)
    torch.save(net.state_dict(), pickled / "pytorch_model.bin")
    with pytest.raises(SeatError, match=r"pytorch_model\.bin"):
        Local(env, pickled)
    # Code that comes with a model is not run.
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    config = {"model_type": "mine", "auto_map": {"AutoConfig": "mine.Mine"}}
    (foreign / "config.json").write_text(json.dumps(config))
    (foreign / "mine.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    with pytest.raises(SeatError, match="foreign"):
        Local(env, foreign)
    assert not (tmp_path / "ran").exists()


def test_long_prompts(tokenizer):
    model = TransformersModel(make_net("llama", len(tokenizer), context=64), tokenizer, "short")
    with pytest.raises(SeatError, match="64"):
        manyhands.play("kuhn_poker", Local(manyhands.make("kuhn_poker"), model))
