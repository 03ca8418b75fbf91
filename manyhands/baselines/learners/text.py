"""A small language model learns to play from text alone: cloned from bots, then improved by play.

The learner (`TextLearner`) plays every seat that it is given with one network of words
(`text_network.py`), which reads what language models read and answers in words that are read like
anybody's (`players/text_policy.py`).

1. **Cloning.** Bots play (`teachers`); their decisions, as prompts and answers, are learned by
   cross-entropy. A tokenizer is trained on the same texts first.
2. **Play.** An update plays some episodes of each game, with itself in all seats or with
   `opponents` in the others, and makes a step of policy gradient (REINFORCE, Williams 1992; with
   `epochs`, clipped as in PPO, Schulman et al. 2017), less `kl` times the divergence from the
   clone. What an answer is worth (`baseline`) is its return less: the mean of the other answers to
   the same prompt ("prompt", Kool et al. 2019), the running mean of its role in its game ("role",
   Liu et al. 2025, SPIRAL), one running mean of everything ("shared"), nothing ("none"), or what
   the network expects ("critic"); or its return among those of the same start ("group", Shao et
   al. 2024, GRPO), and of the same sight in addition ("anchor", Feng et al. 2025, GiGPO).

An illegal answer is a forfeit, whose price (`Env.forfeit_terms`) is part of the return. In poker
that price is a fold's, so that nothing would keep a player who wants to fold from answering
nonsense: `illegal_cost` is added to it.

**Why means by prompt.** Below a mean that does not know the prompt, all answers to a bad hand are
bad. Steps on a sample make all of them less likely, and what becomes more likely instead are words
that were not sampled, most of which are illegal. Advantages by prompt sum to zero at each prompt.

**Equal texts are computed once.** A thousand hands of Kuhn poker have twelve different prompts and
some thirty different answers to them. Prompts are read once each, and the advantages of equal
answers to equal prompts are summed before the gradient is taken, which is the same gradient.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import json
import math
import re
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import jax
import jax.flatten_util
import numpy as np

from manyhands.baselines.game_theory import policies as tables
from manyhands.baselines.learners import text_losses as losses
from manyhands.baselines.learners import text_network as tn
from manyhands.baselines.learners.advantages import compared, discounted
from manyhands.baselines.learners.runs import arrays_of, restore
from manyhands.baselines.learners.settings import check_settings
from manyhands.baselines.learners.text_lessons import (
    Demonstration,
    check_lessons,
    demonstrate,
    tabulate,
    views_of,
)
from manyhands.baselines.learners.text_network import TextNetwork
from manyhands.baselines.learners.text_pairs import Pairs, paired
from manyhands.baselines.learners.text_tokens import Tokenizer, train_tokenizer
from manyhands.baselines.players import network as files
from manyhands.baselines.players import text_policy as words
from manyhands.baselines.players.text_policy import LONGEST, Question, TextModel, TextPolicy
from manyhands.core.env import ConfigError, Env, TrainingError, names_of
from manyhands.core.episode import Moment
from manyhands.core.play import play
from manyhands.core.registry import make, seat
from manyhands.core.view import Reply, View

FORMAT = "manyhands-text-run-1"
TOKENS = ("clauses", "words")
BASELINES = ("prompt", "role", "shared", "none", "critic", "group", "anchor")
CREDITS = ("episode", "turn")
_REMEMBERED = 5_000  # answers whose probabilities by the clone are kept
# What a clone depends on: runs that differ in other settings may start from the same one.
CLONING = (
    *("teachers", "demonstrations", "wander", "positions", "clone_updates", "clone_rate"),
    "clone_average",
    *("relabel", "patience", "vocabulary", "tokens", "width", "layers", "heads"),
)


@dataclasses.dataclass(frozen=True)
class TextConfig:
    """What a text policy learns from, and how.

    Attributes:
        also: further games that are learned together, ids with + between them.
        teachers: seats to learn from, lineups with ; between them; "" takes
            `text_lessons.TEACHERS`, and random players where it names none. A lineup is one seat
            for all agents, or one for each with blanks between them. Random ones, and those in
            brackets, as in "barter (honest)", are not learned from. "GAME=lineup" is for that game
            alone.
        demonstrations: decisions of teachers in each game, at least.
        wander: how likely a teacher that acts on the host does something else at random; what it
            would have done is learned.
        positions: learn positions of board games one by one from their first teacher, in place of
            games played: those to which it can come, which count so many times, and once those to
            which another move in place of one of its own leads. 0 plays.
        clone_updates, clone_rate: steps of cloning, and their learning rate.
        clone_average: the share of the last of these steps after which weights are averaged, and
            the clone is their mean (Izmailov et al. 2018, SWA); 0 takes the last ones.
        relabel: how often, at even distances within cloning, the learner plays and its teachers
            answer where it has got to (Ross et al. 2011, DAgger); all rounds together add
            `demonstrations` decisions in each game.
        updates, episodes_per_update: of play; episodes of each game.
        group: how many episodes have the same start.
        starts: after so many updates the starts of the first one come again, and so on, with other
            draws of the players: a set of training tasks. 0 is always new ones.
        opponents: seats that the learner meets in half of its episodes, with blanks between them;
            "" is self-play alone.
        baseline, credit: what answers are compared with, and whether they get the return of the
            episode or what came after them.
        discount: of rewards per answer, with credit "turn" and for anchors.
        anchor_ignores: a regular expression: answers are answers to the same sight where texts
            differ only in what it matches, such as a clock. "" compares all of an observation
            (`View.anchor`).
        decay: of running means, an update.
        illegal_cost: what an illegal answer costs in addition to its price in the game, in units
            of the root mean square of the game's first returns.
        scale: whether advantages are divided by their deviation in each game.
        kl: the weight of the divergence from the clone.
        renew: every so many updates the policy of the moment takes the clone's place (Perolat et
            al. 2022, R-NaD); 0 is never.
        value: the weight of the regression of returns by a linear head on the network. It is what
            the baseline "critic" compares with; without it, too, it teaches early what in a text
            matters, where teachers did not.
        learning_rate, epochs, clip: of the steps of an update.
        final_rate: the learning rate of the last update as a share of the first; it falls linearly.
        batch: different prompts in one step.
        average, average_from: snapshots for the average strategy of games with a tree, and the
            share of the run after which they begin.
        patience: for how many steps a skill is held to (`macro.persist`); 0 asks every step.
        tokens: "clauses": what texts repeat is one token, which makes them short; "words": a name
            is the same token wherever it stands, so that it can be compared and copied.
        vocabulary, width, layers, heads: of the network.
        minutes_to_checkpoint: between checkpoints.
    """

    also: str = ""
    teachers: str = ""
    demonstrations: int = 2000
    wander: float = 0.1
    positions: int = 0
    clone_updates: int = 200
    clone_rate: float = 1e-3
    clone_average: float = 0.0
    relabel: int = 0
    updates: int = 200
    episodes_per_update: int = 256
    group: int = 1
    starts: int = 0
    opponents: str = ""
    baseline: str = "prompt"
    credit: str = "episode"
    discount: float = 1.0
    anchor_ignores: str = ""
    decay: float = 0.95
    illegal_cost: float = 1.0
    scale: bool = True
    kl: float = 0.05
    renew: int = 0
    value: float = 0.5
    learning_rate: float = 3e-4
    final_rate: float = 1.0
    epochs: int = 1
    clip: float = 0.2
    batch: int = 32
    average: int = 64
    average_from: float = 0.5
    patience: int = 4
    tokens: str = "clauses"
    vocabulary: int = 2048
    width: int = 128
    layers: int = 4
    heads: int = 4
    minutes_to_checkpoint: float = 5.0

    def __post_init__(self) -> None:
        check_settings(self)
        for name, known in (("baseline", BASELINES), ("credit", CREDITS), ("tokens", TOKENS)):
            if getattr(self, name) not in known:
                raise ConfigError(f"{name} is {names_of(known)}, given {getattr(self, name)!r}")
        for name in ("demonstrations", "episodes_per_update", "group", "epochs", "batch"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} is a whole number from 1, given {getattr(self, name)!r}")
        if self.starts < 0:
            raise ConfigError(f"starts is a whole number from 0, given {self.starts!r}")
        for name in ("discount", "decay", "wander", "average_from", "final_rate"):
            if not 0 <= getattr(self, name) <= 1:
                raise ConfigError(f"{name} is from 0 to 1, given {getattr(self, name)!r}")
        if self.baseline in ("group", "anchor") and self.group < 2:
            raise ConfigError(f"the baseline {self.baseline!r} compares a group: give group=4, say")
        try:
            re.compile(self.anchor_ignores)
        except re.error as error:
            raise ConfigError(
                f"anchor_ignores is a regular expression, given {self.anchor_ignores!r}: {error}"
            ) from error
        if self.episodes_per_update % self.group:
            raise ConfigError(
                f"{self.episodes_per_update} episodes are no whole groups of {self.group}"
            )


# ---- one update's data ---------------------------------------------------------------------------


@dataclasses.dataclass
class _Decision:
    """An answer in an episode."""

    game: int
    role: tuple[Any, ...]
    group: tuple[Any, ...]
    question: Question
    answer: tuple[int, ...]
    anchor: str
    gained: float = 0.0
    to_come: float = 0.0
    illegal: bool = False


class _Scribe(TextPolicy):
    """The learner in its seats, which notes its decisions.

    Args:
        sight: what an answer is an answer to.
    """

    def __init__(self, env: Env, model: TextModel, sight: Callable[[View], str]):
        super().__init__(env, model, policy=False)
        self.sight = sight
        self.notes: list[tuple[int, int, int, Question, tuple[int, ...], str]] = []

    def act(self, views: Sequence[View]) -> list[Reply]:
        questions = [self.model.question(*words.texts(self.env, view)) for view in views]
        draws = np.array([view.rng().random(LONGEST) for view in views])
        answers = self.model.generate(questions, draws)
        replies = []
        for view, question, answer in zip(views, questions, answers, strict=True):
            note = view.episode, view.index, view.step, question, answer, self.sight(view)
            self.notes.append(note)
            replies.append(words.reply_of(self.env, self.model.tokenizer.decode(answer)))
        return replies


# ---- the learner ---------------------------------------------------------------------------------


class TextLearner:
    """A text policy and what it learns from.

    Args:
        envs: the games.
        config: see `TextConfig`; `also` is not read here.
        seed: of everything that is drawn.

    Attributes:
        model: the network and its tokenizer, once there is one.
        update: updates of play made.
        cloned: steps of cloning made.
        history: a line of numbers for each.
    """

    def __init__(self, envs: Sequence[Env], config: TextConfig, seed: int = 0):
        if not envs:
            raise ConfigError("a text policy learns at least one game")
        self.envs, self.config, self.seed = list(envs), config, seed
        self.update, self.cloned = 0, 0
        self.history: list[dict[str, Any]] = []
        self.means: dict[str, float] = {}
        self.snapshots: dict[str, list[list[list[float]]]] = {}
        self.model: Any = None
        self.relabelled = 0
        self._demonstrations: list[Demonstration] = []
        self._added: list[Demonstration] = []
        self._reference: Any = None
        self._mean: Any = None  # of the weights after the last steps of cloning
        self._state: Any = None
        self._sets: dict[int, Any] = {}
        self._clones: dict[tuple[Question, tuple[int, ...]], np.ndarray] = {}
        self._earlier, self._began = (0.0, 0.0), (time.monotonic(), time.process_time())

    def spent(self) -> tuple[float, float]:
        """(wall-clock, CPU) seconds of the run, with those before it was resumed."""
        (wall, cpu), (began, own) = self._earlier, self._began
        return wall + time.monotonic() - began, cpu + time.process_time() - own

    # ---- cloning ------------------------------------------------------------------------------

    def prepare(self, tokenizer: Tokenizer | None = None) -> None:
        """Watch the teachers, and make the tokenizer and a fresh network."""
        config = self.config
        self._demonstrations = [
            lesson for env in self.envs for lesson in demonstrate(env, config, self.seed)
        ]
        if tokenizer is None:
            rules: dict[str, list[str]] = defaultdict(list)
            texts: dict[str, list[str]] = defaultdict(list)
            for lesson in self._demonstrations:
                rules[lesson.game].append(lesson.system)
                texts[lesson.game] += [lesson.prompt, lesson.answer]
            different = {game: sorted(set(own)) for game, own in rules.items()}
            tokenizer = train_tokenizer(
                different, texts, config.vocabulary, config.tokens == "words"
            )
        shape = TextNetwork(config.vocabulary, config.width, config.layers, config.heads)
        self.model = TextModel(shape, shape.init(self.seed), tokenizer)
        self._state = losses.OPTIMISER.init(self.model.params)

    def lessons(self) -> list[Pairs]:
        """The demonstrations of each game, equal ones together.

        Raises:
            ConfigError: a teacher's answer is too long; cut short it would lose its action.
        """
        rows: dict[str, list[Any]] = defaultdict(list)
        for lesson in self._demonstrations + self._added:
            question = self.model.question(lesson.system, lesson.prompt)
            if (length := len(self.model.tokens(lesson.answer))) >= LONGEST:
                raise ConfigError(
                    f"a teacher's answer has {length} tokens, {lesson.answer!r}; fewer than "
                    f"{LONGEST} can be learned: choose teachers that say less, or another `tokens`"
                )
            rows[lesson.game].append((question, self.model.answer_tokens(lesson.answer), (1.0,)))
        return [paired(own) for own in rows.values()]

    def clone(self, log: Callable[[str], None] = lambda _: None, tick: Any = None) -> None:
        """Learn what the teachers do; goes on after `cloned` steps. `tick` is called after each."""
        config = self.config
        plan = losses.cloning_rates(config.clone_rate, config.clone_updates)
        averaged_from = config.clone_updates - round(config.clone_average * config.clone_updates)
        games = self.lessons()
        orders: dict[tuple[int, int], list[Pairs]] = {}
        loss = losses.static(functools.partial(losses.clone_loss, self.model.shape))
        while self.cloned < config.clone_updates:
            if self.cloned * (config.relabel + 1) >= config.clone_updates * (self.relabelled + 1):
                self.revisit()
                games, orders = self.lessons(), {}
                log(f"relabelled {self.relabelled} of {config.relabel}: {len(self._added)} more")
            # Games take turns; in each epoch a game's questions are shuffled anew.
            turn, g = divmod(self.cloned, len(games))
            epoch, at = divmod(turn, -(-int(games[g].repeats().sum()) // config.batch))
            if (g, epoch) not in orders:
                rng = np.random.default_rng([self.seed, g, epoch])
                orders = {key: own for key, own in orders.items() if key[0] != g}
                orders[g, epoch] = list(games[g].chunks(config.batch, rng))
            own = orders[g, epoch][at]
            batch = own.arrays()
            rate = np.float32(plan(self.cloned))
            params, self._state, about = losses.step(
                loss, rate, self.model.params, self._state, *batch
            )
            self.model.params = params
            self.cloned += 1
            if self.cloned > averaged_from:
                self._mean = losses.mean_with(self._mean, params, self.cloned - averaged_from)
            self.history.append({"cloned": self.cloned, "game": g, "loss": float(about["loss"])})
            if self.cloned % 25 == 0 or self.cloned == config.clone_updates:
                recent: dict[int, list[float]] = defaultdict(list)
                for line in self.history[-25:]:
                    recent[line["game"]].append(line["loss"])
                text = ", ".join(f"{np.mean(own):.3f}" for _, own in sorted(recent.items()))
                log(f"cloned {self.cloned} of {config.clone_updates}: loss {text}")
            if tick is not None:
                tick()
        if self._mean is not None:
            self.model.params, self._mean = self._mean, None
        if self._reference is None:
            self.begin_play()

    def revisit(self) -> None:
        """Add what the teachers answer in places to which the learner has led itself."""
        self.relabelled += 1
        wanted = max(1, self.config.demonstrations // self.config.relabel)
        config = dataclasses.replace(self.config, demonstrations=wanted)
        for env in self.envs:
            seed = self.seed * 100 + self.relabelled
            self._added += demonstrate(env, config, 1_000_000 + seed, self.model)

    def begin_play(self) -> None:
        """From here on the clone is what `kl` holds to."""
        self._reference = self.model.params
        self._state = losses.OPTIMISER.init(self.model.params)

    # ---- play ---------------------------------------------------------------------------------

    def lineups(self, env: Env) -> list[list[str]]:
        """Seats of each lineup; "" is the learner."""
        n = env.num_agents
        lineups = [[""] * n]
        for name in self.config.opponents.split():
            lineups += [["" if i == k else name for i in range(n)] for k in range(n)]
        return lineups

    def collect(self) -> tuple[list[_Decision], dict[str, float]]:
        """The decisions of an update's episodes, and what happened in them."""
        config, decisions, about = self.config, [], {}
        for g, env in enumerate(self.envs):
            lineups = self.lineups(env)
            groups = config.episodes_per_update // config.group
            # Half of the episodes are self-play, if there are opponents.
            shares = [groups] if len(lineups) == 1 else [groups - groups // 2]
            others = len(lineups) - 1
            shares += [max(1, groups // 2 // max(others, 1))] * others
            illegal = answers = again = 0
            returns: list[float] = []
            for number, (lineup, share) in enumerate(zip(lineups, shares, strict=True)):
                scribe = _Scribe(env, self.model, self._sight)
                player = words.held(scribe, env, config.patience)
                so_far: dict[tuple[int, int], np.ndarray] = {}
                refused: set[tuple[int, int, int]] = set()
                last: dict[int, int] = {}

                def watch(
                    moment: Moment, so_far: Any = so_far, refused: Any = refused, last: Any = last
                ) -> None:
                    episode, turn = moment.episode, moment.turn
                    if turn is not None:
                        refused.update((episode, last[episode], i) for i in turn.illegal)
                    so_far[episode, moment.step] = np.array(moment.rewards)
                    last[episode] = moment.step

                visit, which = 0, self.update
                if config.starts:
                    visit, which = divmod(self.update, config.starts)
                # As often as a start is met, its groups are members of a larger one.
                members = config.group * (visit + 1)
                result = play(
                    env,
                    [player if name == "" else name for name in lineup],
                    share,
                    (self.seed * 1_000_003 + which) * 64 + number,
                    only=[e for e in range(share * members) if e % members >= config.group * visit],
                    group=members,
                    concurrency=share * config.group,
                    on_illegal="noop" if env.id == "skills" else "forfeit",
                    on_step=watch,
                    progress=False,
                )
                total = {e.episode: e.rewards for e in result.episodes}
                own: dict[tuple[int, int], list[_Decision]] = defaultdict(list)
                steps: dict[tuple[int, int], list[int]] = defaultdict(list)
                for episode, index, step, question, answer, anchor in scribe.notes:
                    role = (g, number, index)
                    group = (*role, self.update, episode // members)
                    if len(answer) < LONGEST:
                        answer = (*answer, words.END)
                    own[episode, index].append(_Decision(g, role, group, question, answer, anchor))
                    steps[episode, index].append(step)
                again += sum(len(mine) - len({d.anchor for d in mine}) for mine in own.values())
                for (episode, index), mine in own.items():
                    marks = [so_far[episode, step][index] for step in steps[episode, index]]
                    rewards = np.diff([*marks, total[episode][index]])
                    for decision, later in zip(
                        mine, discounted(rewards.tolist(), config.discount), strict=True
                    ):
                        decision.gained, decision.to_come = total[episode][index], later
                    for decision, step in zip(mine, steps[episode, index], strict=True):
                        decision.illegal = (episode, step, index) in refused
                    decisions += mine
                learns = [i for i, name in enumerate(lineup) if name == ""]
                illegal += sum(e.illegal[i] for e in result.episodes for i in learns)
                answers += len(scribe.notes)
                means = np.mean([e.rewards for e in result.episodes], axis=0)
                for i in learns:
                    name = "" if number == 0 else f"_against_{next(filter(None, lineup))}"
                    about[f"return{name}/{g}/{i}"] = float(means[i])
                returns += [e.rewards[i] for e in result.episodes for i in learns]
            about[f"illegal/{g}"] = illegal / max(answers, 1)
            about[f"answers/{g}"] = float(answers)
            if config.anchor_ignores or config.baseline == "anchor":
                about[f"repeated/{g}"] = again / max(answers, 1)
        return decisions, about

    def _sight(self, view: View) -> str:
        """What of a view is compared with others, where it is compared at all."""
        if self.config.anchor_ignores:
            texts = "\n".join((view.text, *map(str, view.choices)))
            return re.sub(self.config.anchor_ignores, "", texts)
        return view.anchor if self.config.baseline == "anchor" else ""

    def advantages(self, decisions: Sequence[_Decision]) -> np.ndarray:
        """f64[decisions], by `config.baseline`; running means move on."""
        config = self.config
        worth = self.worth(decisions)
        if config.baseline in ("group", "anchor"):
            gained = _each(decisions, lambda d: d.group)
            found = compared(worth.tolist(), gained, config.scale)
            if config.baseline == "anchor":
                to_come = [d.to_come for d in decisions]
                sights = [(d.group, d.anchor) for d in decisions]
                found = found + compared(to_come, sights, config.scale)
            return found
        if config.baseline == "critic":
            found = worth - self._expected(decisions)
        else:
            kinds: dict[str, Callable[[_Decision], str | None]]
            kinds = {"shared": lambda _: "", "none": lambda _: None}
            kinds["role"] = kinds["prompt"] = lambda d: str(d.role)
            keys = [kinds[config.baseline](d) for d in decisions]
            found = worth - np.array([0.0 if k is None else self.means.get(k, 0.0) for k in keys])
            for key in {k for k in keys if k is not None}:
                mean = float(worth[[k == key for k in keys]].mean())
                before = self.means.get(key)
                kept = config.decay if before is not None else 0.0
                self.means[key] = kept * (before or 0.0) + (1 - kept) * mean
            if config.baseline == "prompt":
                found = _less_others(found, [(d.role, d.question) for d in decisions])
        if config.scale:
            games = np.array([d.game for d in decisions])
            for game in set(games.tolist()):
                own = found[games == game]
                found[games == game] = own / (np.sqrt(np.mean(own**2)) + 1e-6)
        return found

    def worth(self, decisions: Sequence[_Decision]) -> np.ndarray:
        """f64[decisions], what each brought, before anything is compared: by `config.credit`, less
        what it costs if it was refused."""
        spread = self._spread(decisions)
        episode = self.config.credit == "episode"
        found = np.array([d.gained if episode else d.to_come for d in decisions])
        found -= [self.config.illegal_cost * spread[d.game] * d.illegal for d in decisions]
        return found

    def gradient(self, decisions: Sequence[_Decision], advantages: np.ndarray) -> np.ndarray:
        """f64[parameters], the policy gradient: the mean over decisions of their advantages times
        the gradient of the log-probabilities of their answers."""
        pairs = paired(
            [
                (d.question, d.answer, (1.0, a, 0.0, 0.0))
                for d, a in zip(decisions, advantages.tolist(), strict=True)
            ]
        )
        total: Any = 0.0
        for part in pairs.chunks(self.config.batch):
            *given, sums = part.arrays()
            found = losses.ascent(self.model.shape, self.model.params, *given, sums[:, 1])
            total = total + np.asarray(found, np.float64)
        return np.asarray(total) / len(decisions)

    def _expected(self, decisions: Sequence[_Decision]) -> np.ndarray:
        """What the network expects of each."""
        end = (words.END,)
        pairs = paired([(q, end, (1.0,)) for q in dict.fromkeys(d.question for d in decisions)])
        values: dict[Question, float] = {}
        for part in pairs.chunks(self.config.batch):
            *batch, _ = part.arrays()
            _, found = losses.judged(self.model.shape, self.model.params, *batch)
            values |= dict(
                zip(part.questions, np.asarray(found, np.float64).tolist(), strict=False)
            )
        return np.array(
            [values[d.question] * self.means.get(f"spread {d.game}", 1.0) for d in decisions]
        )

    def _spread(self, decisions: Sequence[_Decision]) -> dict[int, float]:
        """The root mean square of the returns of each game, at first; values are in this unit."""
        for game in {d.game for d in decisions} - {
            int(k[7:]) for k in self.means if k[:7] == "spread "
        }:
            own = [d.gained for d in decisions if d.game == game]
            self.means[f"spread {game}"] = max(float(np.sqrt(np.mean(np.square(own)))), 1e-3)
        return {d.game: self.means[f"spread {d.game}"] for d in decisions}

    def improve(self) -> dict[str, float]:
        """One update: episodes, advantages, gradient steps."""
        config, shape = self.config, self.model.shape
        if config.renew and self.update and self.update % config.renew == 0:
            self._reference = self.model.params
            self._clones.clear()
        began = time.monotonic()
        decisions, about = self.collect()
        played = time.monotonic() - began
        worth = self.advantages(decisions)
        spread = self._spread(decisions)
        # What is predicted is what answers are worth, as far as the game goes.
        episode = config.credit == "episode"
        brought = [(d.gained if episode else d.to_come) / spread[d.game] for d in decisions]
        pairs = paired(
            [
                (d.question, d.answer, (1.0, max(a, 0.0), max(-a, 0.0), own))
                for d, a, own in zip(decisions, worth.tolist(), brought, strict=True)
            ]
        )
        loss = losses.static(
            functools.partial(losses.play_loss, shape, config.kl, config.clip, config.value)
        )
        left = 1 - (1 - config.final_rate) * self.update / max(config.updates - 1, 1)
        rate = np.float32(config.learning_rate * left)
        batches = []
        for part in pairs.chunks(config.batch):
            *given, sums = part.arrays()
            old = None  # with one step on each batch, what is learned from is what acts
            if config.epochs > 1:
                old = tn.chosen(losses.judged(shape, self.model.params, *given)[0], given[-1])
            total = np.float32(sums[:, 0].sum())
            batches.append((*given, sums, old, self._references(part, given), total))
        means: dict[str, list[float]] = defaultdict(list)
        for epoch in range(config.epochs):
            draw = np.random.default_rng([self.seed, self.update, epoch])
            for k in draw.permutation(len(batches)):
                self.model.params, self._state, found = losses.step(
                    loss, rate, self.model.params, self._state, *batches[k]
                )
                for name, value in found.items():
                    means[name].append(float(value))
        about |= {name: float(np.mean(values)) for name, values in means.items()}
        if not math.isfinite(about["loss"]):
            raise TrainingError(
                f"training diverged in update {self.update + 1}: loss {about['loss']}"
            )
        about["advantage_variance"] = float(np.var(worth))
        about["answer_tokens"] = float(np.mean([len(d.answer) for d in decisions]))
        about["questions"] = float(len(pairs.questions))
        about["pairs"] = float(len(pairs.answers))
        about["seconds_played"] = round(played, 3)
        about["seconds"] = round(time.monotonic() - began, 3)
        self.update += 1
        self._snapshot(about)
        self.history.append({"update": self.update, **about})
        return about

    def _references(self, part: Pairs, given: Sequence[Any]) -> np.ndarray:
        """f32[A, L, V]: what the clone would write; of what was seen before it is remembered."""
        answers, known = given[-1], self._clones
        keys = [(part.questions[q], a) for q, a in zip(part.owner, part.answers, strict=True)]
        if not all(key in known for key in keys):
            found = np.asarray(losses.judged(self.model.shape, self._reference, *given)[0])
            if len(known) > _REMEMBERED:
                known.clear()
            known.update((key, row[: len(key[1])]) for key, row in zip(keys, found, strict=False))
            return found
        logs = np.zeros((*answers.shape, self.model.shape.vocabulary), np.float32)
        for row, key in zip(logs, keys, strict=False):
            row[: len(key[1])] = known[key]
        return logs

    # ---- the strategy in games with a tree ----------------------------------------------------

    def _snapshot(self, about: dict[str, float]) -> None:
        """Note the strategies of this moment, at even distances after `average_from`."""
        config = self.config
        first = int(config.average_from * config.updates)
        every = max(1, (config.updates - first) // max(config.average, 1))
        behind = self.update - first
        if not config.average or behind < 1 or (behind % every and self.update < config.updates):
            return
        for g in range(len(self.envs)):
            found = self.infosets(g)
            if found is None:
                continue
            tree, views = found
            table, _ = tabulate(self.model, tree, views)
            self.snapshots.setdefault(str(g), []).append(table.tolist())
            about[f"exploitability/{g}"] = tables.exploitability(tree, table)
            whole = tables.average(tree, np.array(self.snapshots[str(g)]))
            about[f"exploitability_average/{g}"] = tables.exploitability(tree, whole)

    def infosets(self, game: int) -> Any:
        """(the tree of a game, a view at each information set); None if it has none."""
        if game not in self._sets:
            env = self.envs[game]
            self._sets[game] = None
            if env.deals() is not None and env.chat is None:
                with contextlib.suppress(ConfigError):
                    tree = tables.tree_of(env)
                    self._sets[game] = tree, views_of(tree)
        return self._sets[game]

    # ---- files --------------------------------------------------------------------------------

    def save(self, path: Path) -> None:
        """All of the run, to go on from."""
        about = {
            "settings": dataclasses.asdict(self.config),
            "games": [env.spec() for env in self.envs],
            "seed": self.seed,
            "update": self.update,
            "cloned": self.cloned,
            "spent": self.spent(),
            "history": self.history,
            "means": self.means,
            "snapshots": self.snapshots,
            "tokenizer": self.model.tokenizer.to_json(),
            "relabelled": self.relabelled,
            "added": [dataclasses.astuple(lesson) for lesson in self._added],
        }
        tree = {
            "params": self.model.params,
            "reference": self._reference or {},
            "mean": self._mean or {},
            "state": self._state,
        }
        files.write_tensors(path, arrays_of(tree), {"format": FORMAT, "about": json.dumps(about)})

    def resume(self, path: Path, clone: bool = False) -> None:
        """Go on from what `save` wrote.

        Args:
            clone: take the clone of another run, which may differ in its seed and in everything
                that concerns play, and begin to play from there.

        Raises:
            TrainingError: it is of another run; with `clone`, it was cloned otherwise, or not
                to the end, or has played since.
        """
        tensors, metadata = files.read_tensors(path)
        if metadata.get("format") != FORMAT:
            raise TrainingError(f"{path} is no checkpoint of a text policy; use --overwrite")
        about = json.loads(metadata["about"])
        ours = {
            "settings": dataclasses.asdict(self.config),
            "games": json.loads(json.dumps([env.spec() for env in self.envs])),
            "seed": self.seed,
        }
        if clone:
            ours["seed"] = about["seed"]
            if about["cloned"] < self.config.clone_updates or about["update"]:
                raise TrainingError(
                    f"{path} holds {about['cloned']} steps of cloning and {about['update']} "
                    f"updates, expected a clone of {self.config.clone_updates} steps that has not "
                    "played: make it with updates=0"
                )
        # Settings that came into being since then had their defaults.
        known = {field.name: field.default for field in dataclasses.fields(TextConfig)}
        about["settings"] = {**known, **about["settings"]}
        for name, own in ours.items():
            # A run may be made longer, its cloning until it has played.
            theirs, own = about[name], dict(own) if isinstance(own, dict) else own
            if isinstance(own, dict):
                free = {"updates", "minutes_to_checkpoint"}
                if not about["update"]:
                    free |= {"clone_updates", "clone_average", "relabel"}
                own |= {k: theirs[k] for k in own if (k not in CLONING if clone else k in free)}
            if theirs != own:
                raise TrainingError(
                    f"{path} belongs to another run: its {name} are {theirs}, this run's are {own}"
                )
        averaging = any(name.startswith("['mean']") for name in tensors)
        playing = any(name.startswith("['reference']") for name in tensors)
        shape = TextNetwork(
            self.config.vocabulary, self.config.width, self.config.layers, self.config.heads
        )

        def like() -> Any:
            params = shape.init(0)
            return {
                "params": params,
                "reference": params if playing else {},
                "mean": params if averaging else {},
                "state": losses.OPTIMISER.init(params),
            }

        tree = restore(like, tensors, path)
        tokenizer = Tokenizer.from_json(about["tokenizer"])
        if not playing:
            self.prepare(tokenizer)
        self.model = TextModel(shape, tree["params"], tokenizer)
        self._state, self._reference = tree["state"], tree["reference"] or None
        self._mean = tree["mean"] or None
        self.update, self.cloned = int(about["update"]), int(about["cloned"])
        if not clone:  # checkpoints did not always tell
            self._earlier = tuple(about.get("spent", self._earlier))
        self.history, self.means = about["history"], about["means"]
        self.snapshots, self.relabelled = about["snapshots"], about["relabelled"]
        self._added = [Demonstration(*row) for row in about["added"]]
        if self.cloned < self.config.clone_updates:
            self._reference = None  # of a shorter clone
        if clone:
            self.begin_play()


def _less_others(worth: np.ndarray, keys: Sequence[Any]) -> np.ndarray:
    """f64[N]: each value less the mean of the others with its key and of one that is 0."""
    rows: dict[Any, list[int]] = defaultdict(list)
    for k, key in enumerate(keys):
        rows[key].append(k)
    found = worth.copy()
    for own in rows.values():
        found[own] -= (worth[own].sum() - worth[own]) / len(own)
    return found


def _each(decisions: Sequence[_Decision], key: Callable[[_Decision], Any]) -> list[Any]:
    return [key(decision) for decision in decisions]


# ---- a run ---------------------------------------------------------------------------------------


def text(
    env: Env | Sequence[Env],
    config: TextConfig,
    out: str | Path,
    seed: int = 0,
    *,
    resume: bool = False,
    overwrite: bool = False,
    start: str | Path | None = None,
    log: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Train a text policy: `manyhands train GAME --algorithm text`.

    The folder gets `policy-0.safetensors` and its card, `checkpoint.safetensors`, `curve.json`, and
    for each game with a tree the average strategy, `average-GAME.safetensors` (the seat `table`).

    Args:
        env: the game, or several.
        resume: go on with the run in `out`; the result is that of a run that was never stopped.
        overwrite: delete what is there.
        start: the folder of a run whose clone this one begins with, in place of one of its own.

    Returns:
        The card.

    Raises:
        TrainingError: the folder holds a run already, or one of another kind, or `start` holds
            no clone by these settings.
        ConfigError, SeatError: teachers or opponents that cannot be, before anything is learned.
    """
    envs = [env] if isinstance(env, Env) else list(env)
    envs += [make(name.strip()) for name in config.also.split("+") if name.strip()]
    check_lessons(envs, config)
    for own in envs:
        for name in config.opponents.split():
            seat(name, own)
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    kept = out / "checkpoint.safetensors"
    if kept.exists() and not (resume or overwrite):
        raise TrainingError(
            f"{out} holds a run already; go on with it (--resume, resume=True), delete it "
            "(--overwrite, overwrite=True), or name another folder"
        )
    learner = TextLearner(envs, config, seed)
    if kept.exists() and resume:
        learner.resume(kept)
        log(f"going on after {learner.cloned} steps of cloning and {learner.update} updates")
    elif start is not None:
        learner.resume(Path(start) / "checkpoint.safetensors", clone=True)
        log(f"starting from the clone of {start}")
    else:
        learner.prepare()
        count = sum(np.size(leaf) for leaf in jax.tree_util.tree_leaves(learner.model.params))
        log(f"{count:,} parameters, {learner.model.tokenizer.size} tokens")
    last = time.monotonic()

    def tick() -> None:
        nonlocal last
        if time.monotonic() - last > 60 * config.minutes_to_checkpoint:
            learner.save(kept)
            last = time.monotonic()

    try:
        if learner.cloned < config.clone_updates or learner.update == 0:
            learner.clone(log, tick)
            learner.save(kept)
        while learner.update < config.updates:
            about = learner.improve()
            shown = {k: v for k, v in about.items() if not k.startswith(("answers", "pairs"))}
            numbers = ", ".join(f"{name} {value:.3g}" for name, value in shown.items())
            log(f"update {learner.update} of {config.updates}: {numbers}")
            tick()
    except KeyboardInterrupt:
        learner.save(kept)
        raise
    learner.save(kept)
    seconds, cpu = learner.spent()
    card = {
        "games": [env.spec() for env in envs],
        "algorithm": "text",
        "settings": dataclasses.asdict(config),
        "seed": seed,
        "seconds": round(seconds, 1),
        "cpu_seconds": round(cpu, 1),
        "cloned": learner.cloned,
        "updates": learner.update,
        "last": learner.history[-1] if learner.history else {},
    }
    specs: list[Mapping[str, Any]] = [env.spec() for env in envs]
    words.save(out / "policy-0.safetensors", learner.model, specs, card, half=True)
    (out / "curve.json").write_text(json.dumps(learner.history) + "\n")
    for g, own in enumerate(envs):
        if str(g) in learner.snapshots:
            tree, _ = learner.infosets(g)
            whole = tables.average(tree, np.array(learner.snapshots[str(g)]))
            tables.as_policy(tree, whole).save(out / f"average-{own.id}.safetensors", seed=seed)
    return card
