"""A small language model, trained here from scratch, as a player: the seat `text:file=PATH`.

It reads what a language model reads (`players/language.py`): a system message with the rules, and
a prompt with the observation and the choices; and it answers in words, token by token, which are
read like anybody's. Nothing keeps it to the choices, unless that is asked for.

A policy is a .safetensors file: the arrays of the network, and in the header its shape and its
tokenizer as JSON. A file may hold several networks, each for games of its own (`bundle`). Nothing
in it is executed.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import json
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np

from manyhands.baselines.learners import text_network as tn
from manyhands.baselines.learners.text_network import TextNetwork
from manyhands.baselines.learners.text_tokens import END, START, Tokenizer
from manyhands.baselines.players import network as files
from manyhands.baselines.players.dialogue import Dialogue
from manyhands.baselines.players.patient import Patience
from manyhands.core.config import boolean, plain, whole
from manyhands.core.env import ConfigError, Env, IllegalAction, PolicyError, shorten
from manyhands.core.episode import check_action
from manyhands.core.reading.parts import split_say
from manyhands.core.reading.spelling import Place, Speller
from manyhands.core.registry import from_spec
from manyhands.core.view import Reply, View

FORMAT = "manyhands-text-1"
CONTEXT = 768  # tokens of the system message and the prompt that are read, counted from their end
LONGEST = 64  # tokens of an answer
_CHOICES = 64  # the most choices whose probabilities are computed
_DRAFTS = 8  # answers that are written where there are more, until one is legal
_BLOCK = 32  # prompts that are read at once
_KEPT = 4096  # prompts whose tokens are remembered
# What may differ from the games that a policy was trained in: neither the rules nor a step's text
# depend on it.
_FREE = ("max_steps", "reward_weights", "starts", "observation", "statistics")
_VECTORS = ("recent",)  # wrappers that change vectors alone


# ---- what it reads and writes --------------------------------------------------------------------


def texts(env: Env, view: View) -> tuple[str, str]:
    """(the system message, the prompt) of a view: those of the seat `language` with `history=0`."""
    dialogue = _dialogue(env)
    return dialogue.opening(view)[0].content, dialogue.step(view)[1]


@functools.lru_cache(maxsize=16)
def _dialogue(env: Env) -> Dialogue:
    patience = Patience(env, 0)
    return Dialogue(env, "text", show_choices=True, detail=None, shots=0, patience=patience)


def written(action: str, say: str | None = None) -> str:
    """An answer in the form that the system message asks for."""
    return f"ACTION: {action}" + (f"\nSAY: {say}" if say else "")


def answer_of(view: View, action: Any) -> str:
    """An action of a bot as an answer: the words of its choice, without the effect."""
    words = view.words(action)
    # Composed actions are too many to be listed; the words are an answer as they are.
    others = view.all_choices if np.ndim(action) == 0 else ()
    for choice in itertools.chain(view.choices, others):
        if words in (str(choice), choice.text):
            return choice.text
    return words


# ---- the policy ----------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Question:
    """A decision in tokens: the system message, and the prompt."""

    system: tuple[int, ...]
    prompt: tuple[int, ...]


class TextModel:
    """A network with its tokenizer: reads questions, writes answers.

    Attributes:
        shape, params: the network.
        tokenizer: of its texts.
    """

    def __init__(self, shape: TextNetwork, params: Any, tokenizer: Tokenizer):
        if tokenizer.size > shape.vocabulary:
            raise PolicyError(
                f"a tokenizer of {tokenizer.size} tokens does not fit {shape.vocabulary}"
            )
        self.shape, self.params, self.tokenizer = shape, params, tokenizer
        self._known: OrderedDict[str, tuple[int, ...]] = OrderedDict()

    def sharpened(self, factor: float) -> TextModel:
        """The same model at a temperature of 1 / factor: answers that are likely are more so."""
        params = {**self.params, "norm": self.params["norm"] * factor}
        return TextModel(self.shape, params, self.tokenizer)

    def question(self, system: str, prompt: str) -> Question:
        """The tokens of a decision; of a long prompt the end, which holds the choices."""
        rules, own = self.tokens(system)[-CONTEXT // 2 :], self.tokens(prompt)
        return Question(rules, own[-(CONTEXT - len(rules)) :])

    def tokens(self, text: str) -> tuple[int, ...]:
        found = self._known.get(text)
        if found is None:
            found = self._known[text] = tuple(self.tokenizer.encode(text))
            if len(self._known) > _KEPT:
                self._known.popitem(last=False)
        return found

    def answer_tokens(self, answer: str) -> tuple[int, ...]:
        """An answer to learn or to score, with its end."""
        return (*self.tokens(answer)[: LONGEST - 1], END)

    # ---- generation -------------------------------------------------------------------------

    def generate(
        self,
        questions: Sequence[Question],
        draws: np.ndarray | None,
        spellers: Sequence[Speller] | None = None,
    ) -> list[tuple[int, ...]]:
        """An answer to each question, in tokens, without its end.

        Equal questions are read once, and equal beginnings of answers to them are continued once.

        Args:
            draws: f64[questions, LONGEST] in [0, 1), the random number of each token; None takes
                the most likely tokens.
            spellers: all answers that may be given to each; only tokens that lead to one of them
                are written then, each by its share of their probability. Equal questions with the
                same speller are continued together.
        """
        answers: list[tuple[int, ...]] = [()] * len(questions)
        for block, cache in self._blocks(questions):
            rows = {question: i for i, question in enumerate(block)}
            members = [k for k, question in enumerate(questions) if question in rows]
            own = None if draws is None else draws[members]
            mine = None if spellers is None else [spellers[k] for k in members]
            found = self._write(cache, [rows[questions[k]] for k in members], own, mine)
            for k, answer in zip(members, found, strict=True):
                answers[k] = answer
        return answers

    def _blocks(self, questions: Sequence[Question]) -> Any:
        """Different questions, those of like length together, with their cache."""
        different = sorted(set(questions), key=lambda q: (len(q.prompt), q.prompt, q.system))
        for start in range(0, len(different), _BLOCK):
            block = different[start : start + _BLOCK]
            yield block, tn.read_prompts(self.shape, self.params, *packed(block))

    def _write(
        self,
        cache: tn.Cache,
        asked: Sequence[int],
        draws: np.ndarray | None,
        spellers: Sequence[Speller] | None,
    ) -> list[tuple[int, ...]]:
        """Answers to the prompts `asked` of a cache."""
        # Beginnings that are still open: their prompt, and who writes them.
        open_: list[tuple[int, list[int]]] = []
        groups: dict[tuple[int, int], list[int]] = {}
        for k, row in enumerate(asked):
            groups.setdefault((row, id(spellers[k]) if spellers else 0), []).append(k)
        open_ = [(row, writers) for (row, _), writers in groups.items()]
        places = [spellers[writers[0]].start for _, writers in open_] if spellers else []
        answers: list[list[int]] = [[] for _ in asked]
        last, parents, cached = [START] * len(open_), list(range(len(open_))), None
        for place in range(LONGEST):
            height = tn.size_for(len(open_), tn.GROWN)
            fill = height - len(open_)
            owner = np.array([row for row, _ in open_] + [0] * fill, np.int32)
            if cached is None:
                cached = tn.room(self.shape, height, LONGEST)
            else:
                back = np.array(parents + [0] * fill, np.int32)
                cached = _rows(cached, back)
            tokens = np.array(last + [START] * fill, np.int32)
            chances, cached = tn.next_token(
                self.shape, self.params, cache, owner, cached, np.int32(place), tokens
            )
            chances = np.asarray(chances, np.float64)[: len(open_)]
            leads: list[dict[int, Place]] = []
            if spellers:
                leads = [self.tokenizer.leading(place) for place in places]
                chances = np.stack([_kept_to(*pair) for pair in zip(chances, leads, strict=True)])
            sums = np.cumsum(chances, axis=1)
            grown: list[tuple[int, list[int]]] = []
            reached: list[Place] = []
            last, parents = [], []
            for i, (row, writers) in enumerate(open_):
                if draws is None:
                    picked = np.full(len(writers), chances[i].argmax())
                else:
                    marks = draws[writers, place] * sums[i, -1]
                    picked = np.searchsorted(sums[i], marks, side="right")
                    picked = np.minimum(picked, len(sums[i]) - 1)
                for token in np.unique(picked):
                    if token == END:
                        continue
                    those = [k for k, own in zip(writers, picked, strict=True) if own == token]
                    for k in those:
                        answers[k].append(int(token))
                    grown.append((row, those))
                    last.append(int(token))
                    parents.append(i)
                    if spellers:
                        reached.append(leads[i][int(token)])
            open_, places = grown, reached
            if not open_:
                break
        # What has become too long is ended by the shortest way to a legal answer.
        for (_, writers), here in zip(open_, places, strict=False):
            for k in writers:
                answers[k] += self.tokenizer.spelled(here.finish())
        return [tuple(answer) for answer in answers]

    # ---- probabilities ----------------------------------------------------------------------

    def likelihoods(
        self, questions: Sequence[Question], answers: Sequence[Sequence[str]]
    ) -> list[np.ndarray]:
        """For each question the log-probabilities of some answers to it, f64[answers]."""
        found: dict[Question, np.ndarray] = {}
        wanted = dict(zip(questions, answers, strict=True))
        for block, cache in self._blocks(questions):
            owner = [i for i, question in enumerate(block) for _ in wanted[question]]
            rows = [list(self.answer_tokens(a)) for question in block for a in wanted[question]]
            if not rows:
                continue
            array = tn.padded(rows, tn.SHORT, tn.ANSWERS)
            full = np.array(owner + [0] * (len(array) - len(owner)), np.int32)
            logs = tn.likelihoods(self.shape, self.params, cache, full, array)
            sums = iter(np.asarray(logs, np.float64))
            for question in block:
                count = len(wanted[question])
                found[question] = np.array(list(itertools.islice(sums, count)))
        return [found.get(question, np.zeros(0)) for question in questions]


def _kept_to(chances: np.ndarray, leads: Mapping[int, Place]) -> np.ndarray:
    """The probabilities of tokens f64[V] among those allowed; even ones if the network has none for
    any of them."""
    allowed = np.zeros(len(chances), bool)
    allowed[list(leads)] = True
    found = np.where(allowed, chances, 0.0)
    return found if found.sum() > 0 else allowed.astype(float)


@jax.jit
def _rows(cache: tn.Cache, rows: Any) -> tn.Cache:
    return cache[0][:, rows], cache[1][:, rows], cache[2][rows]


def packed(
    block: Sequence[Question],
    lengths: tuple[int, ...] = tn.LENGTHS,
    heights: tuple[int, ...] = tn.ROWS,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(system messages i32[G, S], which of them i32[P], prompts i32[P, T]) of some questions, the
    prompts filled up to one of the sizes given."""
    systems = {system: i for i, system in enumerate(dict.fromkeys(q.system for q in block))}
    prompts = tn.padded([list(q.prompt) for q in block], lengths, heights)
    which = np.zeros(len(prompts), np.int32)
    which[: len(block)] = [systems[q.system] for q in block]
    return tn.padded([list(system) for system in systems], tn.LENGTHS, tn.RULES), which, prompts


class TextPolicy:
    """A text model in a seat: a host policy.

    Args:
        env: the environment that it plays.
        model: the network.
        greedy: write the most likely tokens instead of drawing them.
        constrained: draw one of the choices by the probabilities of their answers, instead of
            writing freely. Where there are more than 64 choices, or they are composed, what is
            written freely is taken if it is legal; if it is not, another answer is written of
            which each token leads to a legal one (`View.spelling`; `Reply.info["spelled"]`).
            Where an environment gives no spelling, up to 8 answers are written freely.
        policy: whether replies hold the probabilities of the choices, `Reply.info["policy"]`.

    The probabilities are those that the network gives the answer "ACTION: <choice>" of each legal
    action, divided by their sum; `info["mass"]` is that sum, at most 1: what is left are other
    words, which may mean the same or be refused.
    """

    def __init__(
        self,
        env: Env,
        model: TextModel,
        *,
        greedy: bool = False,
        constrained: bool = False,
        policy: bool = True,
        name: str = "text",
    ):
        self.env, self.model, self.name = env, model, name
        self.greedy, self.constrained, self.policy = greedy, constrained, policy
        self._countable = isinstance(env.action_space, gymnasium.spaces.Discrete)

    def act(self, views: Sequence[View]) -> list[Reply]:
        questions = [self.model.question(*texts(self.env, view)) for view in views]
        infos: list[dict[str, Any]] = [{} for _ in views]
        if (self.policy or self.constrained) and self._countable:
            infos = self._probabilities(views, questions)
        replies: list[Reply | None] = [None] * len(views)
        if self.constrained:
            for k, (view, info) in enumerate(zip(views, infos, strict=True)):
                if "policy" in info:
                    own = np.asarray(info["policy"])
                    pick = own.argmax() if self.greedy else view.rng().choice(len(own), p=own)
                    replies[k] = Reply(written(view.all_choices[int(pick)].text), info=info)
        left = [k for k, reply in enumerate(replies) if reply is None]
        drafts = _DRAFTS if self.constrained else 1
        drawn = {k: views[k].rng().random((drafts, LONGEST)) for k in left}
        for draft in range(drafts):
            draws = None
            if not self.greedy or draft:
                draws = np.array([drawn[k][draft] for k in left])
            answers = self.model.generate([questions[k] for k in left], draws) if left else []
            for k, tokens in zip(left, answers, strict=True):
                replies[k] = reply_of(self.env, self.model.tokenizer.decode(tokens), infos[k])
                infos[k]["prompt_tokens"] = len(questions[k].system) + len(questions[k].prompt)
                written_before = infos[k].get("completion_tokens", 0)
                infos[k]["completion_tokens"] = written_before + len(tokens)
            if draft == drafts - 1:
                break
            left = [k for k in left if not _accepted(self.env, views[k], replies[k])]
            spelled = [k for k in left if views[k].spelling is not None]
            self._spell(views, questions, replies, infos, spelled)
            left = [k for k in left if views[k].spelling is None]
        return replies  # type: ignore[return-value]

    def _spell(
        self,
        views: Sequence[View],
        questions: Sequence[Question],
        replies: list[Reply | None],
        infos: Sequence[dict[str, Any]],
        those: Sequence[int],
    ) -> None:
        """Answer these views anew, kept to the answers that they spell out."""
        known: dict[tuple[Question, bytes], Speller] = {}
        spellers = []
        for k in those:
            key = questions[k], views[k].legal.tobytes()
            if key not in known:
                spelling = views[k].spelling
                assert spelling is not None
                known[key] = Speller(spelling.after("\n" + written("")))
            spellers.append(known[key])
        if not those:
            return
        draws = None
        if not self.greedy:
            draws = np.array([views[k].rng().random((2, LONGEST))[1] for k in those])
        answers = self.model.generate([questions[k] for k in those], draws, spellers)
        for k, tokens in zip(those, answers, strict=True):
            infos[k]["completion_tokens"] += len(tokens)
            infos[k]["spelled"] = True
            replies[k] = reply_of(self.env, self.model.tokenizer.decode(tokens), infos[k])

    def _probabilities(
        self, views: Sequence[View], questions: Sequence[Question]
    ) -> list[dict[str, Any]]:
        """`info` of each view."""
        wanted: dict[Question, list[str]] = {}
        for view, question in zip(views, questions, strict=True):
            if question not in wanted:
                few = int(view.legal.sum()) <= _CHOICES
                choices = view.all_choices if few else []
                fits = len(choices) == int(view.legal.sum())
                wanted[question] = [written(c.text) for c in choices] if fits else []
        logs = self.model.likelihoods(list(wanted), list(wanted.values()))
        infos: dict[Question, dict[str, Any]] = {}
        for question, own in zip(wanted, logs, strict=True):
            infos[question] = {}
            if len(own):
                chances = np.exp(own - own.max())
                infos[question] = {
                    "policy": (chances / chances.sum()).tolist(),
                    "mass": float(np.exp(own).sum()),
                }
        return [dict(infos[question]) for question in questions]

    def __repr__(self) -> str:
        return f"TextPolicy({self.env!r}, {self.model.shape})"


def _accepted(env: Env, view: View, reply: Any) -> bool:
    """Whether an answer names an action that is legal."""
    try:
        check_action(env, view.legal, view.parse(reply.action))
    except IllegalAction:
        return False
    return True


def reply_of(env: Env, text: str, info: dict[str, Any] | None = None) -> Reply:
    """A written answer as a reply: what is said aloud apart, where there is a channel."""
    if env.chat is None:
        return Reply(text, info=info or {})
    action, say = split_say(text)
    if say and not action.strip():
        return Reply(f"SAY: {say}", info=info or {})
    return Reply(action, say, info=info or {})


# ---- files ---------------------------------------------------------------------------------------


def save(
    path: str | Path, model: TextModel, games: Sequence[Mapping[str, Any]], card: Any, half: bool
) -> None:
    """Write a model to `path` (.safetensors), and its card to the .json next to it.

    Args:
        games: `Env.spec()` of the games that it was trained in.
        half: whether to keep its numbers as f16, at half the size.

    Raises:
        PolicyError: the path has another suffix.
        OSError: it cannot be written; earlier contents are kept.
    """
    tensors = _halved(files.tensors_of(model.params), half)
    files.write_policy(path, tensors, FORMAT, _described(model, games), card)


def bundle(
    path: str | Path,
    parts: Sequence[tuple[TextModel, Sequence[Mapping[str, Any]]]],
    card: Any,
    half: bool = True,
) -> None:
    """Write several models to one file, each with the specs of its games (`save`); a seat takes
    the one that knows its game.

    Raises:
        PolicyError: two of them are for one game, or as `save`.
        OSError: as `save`.
    """
    ids = [name for _, games in parts for name in sorted({_innermost(game) for game in games})]
    if len(set(ids)) < len(ids):
        raise PolicyError(f"a file holds one network for a game at most, given {', '.join(ids)}")
    tensors = {
        f"{k}/{name}": array
        for k, (model, _) in enumerate(parts)
        for name, array in _halved(files.tensors_of(model.params), half).items()
    }
    about = {"parts": [_described(model, games) for model, games in parts]}
    files.write_policy(path, tensors, FORMAT, about, card)


def _halved(tensors: Mapping[str, np.ndarray], half: bool) -> dict[str, np.ndarray]:
    return {name: array.astype(np.float16) if half else array for name, array in tensors.items()}


def _described(model: TextModel, games: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {
        "network": dataclasses.asdict(model.shape),
        "tokenizer": model.tokenizer.to_json(),
        "games": list(games),
    }


def load(path: str | Path, game: str | None = None) -> tuple[TextModel, list[dict[str, Any]]]:
    """(the model in a file, the specs of the games that it was trained in).

    Args:
        game: the id of the game that it is to play, where a file holds several models.

    Raises:
        PolicyError: no such file, no text policy, cut off, damaged, not finite, or for other games.
    """
    tensors, metadata = files.read_tensors(path)
    if metadata.get("format") != FORMAT:
        raise PolicyError(
            f"{path} is no text policy: its format is {metadata.get('format', 'not given')!r}, "
            f"expected {FORMAT!r}; other policies are seated by policy:file=PATH"
        )
    try:
        about = json.loads(metadata["about"])
        parts = [(about, "")]
        if "parts" in about:
            parts = [(part, f"{k}/") for k, part in enumerate(about["parts"])]
        known = [sorted({_innermost(own) for own in part["games"]}) for part, _ in parts]
        fitting = [k for k, ids in enumerate(known) if game is None or game in ids]
        if game is not None and not fitting:
            raise PolicyError(
                f"{path} was trained for {', '.join(itertools.chain(*known))}, not for {game}: a "
                "network of this size reads only texts like those that it learned from"
            )
        if len(fitting) > 1:
            raise PolicyError(f"{path} holds several networks: name the game, one of {known}")
        about, start = parts[fitting[0]]
        shape = TextNetwork(**about["network"])
        tokenizer = Tokenizer.from_json(about["tokenizer"])
        games = [dict(own) for own in about["games"]]
    except PolicyError:
        raise
    except (LookupError, TypeError, ValueError) as error:
        raise PolicyError(f"{path} does not say what its arrays are for: {error!r}") from error
    files.check_finite(path, tensors)
    own = {name[len(start) :]: array for name, array in tensors.items() if name.startswith(start)}
    params = files.tree_of({name: array.astype(np.float32) for name, array in own.items()})
    expected = jax.eval_shape(lambda: shape.init(0))
    sizes = [
        {name: tuple(np.shape(leaf)) for name, leaf in _flat(tree).items()}
        for tree in (params, expected)
    ]
    if sizes[0] != sizes[1]:
        raise PolicyError(f"{path}: its arrays do not fit {shape}")
    return TextModel(shape, jax.tree_util.tree_map(jnp.asarray, params), tokenizer), games


def _flat(tree: Any) -> dict[str, Any]:
    paths = jax.tree_util.tree_flatten_with_path(tree)[0]
    return {"/".join(str(key.key) for key in path): leaf for path, leaf in paths}


def from_file(
    env: Env,
    file: str,
    greedy: bool = False,
    constrained: bool | None = None,
    policy: bool = True,
    patience: int = 0,
) -> Any:
    """The seat `text:file=PATH`; `file=shipped` is the one in the package, where there is one.

    Args:
        constrained: as of `TextPolicy`; by default where answers are composed, such as offers of a
            trade, of which small networks get one in ten wrong.
        patience: in an environment of skills, for how many steps a chosen skill is held to at most
            (`players/macro.py`); 0 asks in every step.
    """
    greedy, policy = boolean("greedy", greedy), boolean("policy", policy)
    patience = whole("patience", patience, 0)
    if constrained is not None:
        constrained = boolean("constrained", constrained)
    game = _innermost(env.spec())
    if file == "shipped":
        with resources.as_file(shipped(game)) as path:
            model, games = load(path, game)
    else:
        model, games = load(file, game)
    _check_game(env, games, file)
    if constrained is None:
        constrained = not isinstance(env.action_space, gymnasium.spaces.Discrete)
    name = f"text:file={Path(file).name}"
    made: Any = TextPolicy(
        env, model, greedy=greedy, constrained=constrained, policy=policy, name=name
    )
    return held(made, env, patience)


def _check_game(env: Env, games: Sequence[Mapping[str, Any]], file: str) -> None:
    """That a policy was trained in such a game: other rules, scenarios and wrappers have texts of
    their own.

    Raises:
        PolicyError: it was not.
    """
    own = _stack(env.spec())
    learned = [_stack(_present(spec)) for spec in games]
    if own in learned:
        return
    same = [stack for stack in learned if [id for id, _ in stack] == [id for id, _ in own]]
    if not same:
        given, known = _named(own), [_named(stack) for stack in learned]
    else:  # the same names in the same wrappers: the options that differ
        wrong = {
            (k, name)
            for stack in same
            for k, (_, config) in enumerate(stack)
            for name in {*config, *own[k][1]}
            if config.get(name) != own[k][1].get(name)
        }
        given, known = _named(own, wrong), [_named(stack, wrong) for stack in same]
    raise PolicyError(
        f"text:file={file} was trained for {'; '.join(dict.fromkeys(known))}, not for {given}: a "
        "network of this size reads only texts like those that it learned from; play it there, or "
        "train one (`manyhands train GAME --algorithm text`)"
    )


def _present(spec: Mapping[str, Any]) -> Mapping[str, Any]:
    """A spec with all options that its game has now; as it is, if the game is not registered."""
    try:
        return from_spec(spec).spec()
    except ConfigError:
        return spec


def _stack(spec: Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """(id, configuration) of a game and of the wrappers around it, from the outside in, as far as
    texts and rules depend on them."""
    found = []
    while True:
        config = plain(spec.get("config") or {})
        if spec["id"] not in _VECTORS:
            kept = {name: value for name, value in config.items() if name not in _FREE}
            found.append((str(spec["id"]), kept))
        if "env" not in spec:
            return found
        spec = spec["env"]


def _named(stack: Sequence[tuple[str, Mapping[str, Any]]], options: Any = ()) -> str:
    """`kitchen with layout='cramped_room' in skills`: with those of `options`, (place in the
    stack, name)."""
    words = []
    for k, (id, config) in enumerate(stack):
        told = [f"{n}={shorten(config.get(n))}" for place, n in sorted(options) if place == k]
        words.append(id + (f" with {', '.join(told)}" if told else ""))
    return " in ".join(reversed(words))


def shipped(game: str) -> Any:
    """The file of the package that holds the policy of a game: one for itself, or that of several.

    Raises:
        PolicyError: this version of the package has none.
    """
    folder = resources.files("manyhands") / "assets" / "policies" / "text"
    for name in (game, "shipped"):
        kept = folder / f"{name}.safetensors"
        if kept.is_file():
            return kept
    raise PolicyError(
        "no text policy comes with this version of the package: train one (`manyhands train GAME "
        "--algorithm text`) and name its file, text:file=PATH"
    )


def held(policy: Any, env: Env, patience: int) -> Any:
    """A player of skills that is asked again only when its skill is done, or after `patience`
    steps; in other environments the player itself."""
    from manyhands.baselines.players.macro import persist
    from manyhands.wrappers.skills import Skills

    return persist(policy, env, patience) if patience and isinstance(env, Skills) else policy


def _unwrapped(spec: Mapping[str, Any]) -> Mapping[str, Any]:
    while "env" in spec:
        spec = spec["env"]
    return spec


def _innermost(spec: Mapping[str, Any]) -> str:
    return str(_unwrapped(spec)["id"])
