"""Named skills in place of primitive actions, for any environment that ships a skill set.

One step of `Skills` is one primitive step of each agent's chosen skill: choose the skill again to
continue it, or another one at any time. `wrappers/events.py` runs skills from one event to the
next; `baselines/players/macro.py` has players that are queried only when there is something to
decide.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Callable, Container, Sequence
from typing import Any, Protocol

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.choices import LIMIT, Choice, Form, fold, without_effects
from manyhands.core.config import boolean
from manyhands.core.env import (
    Action,
    Array,
    ConfigError,
    Env,
    IllegalAction,
    Outcome,
    Wrapper,
    state_dataclass,
)
from manyhands.core.reading.answers import closest, decide, how_to_answer, number, numbered, quoted
from manyhands.core.reading.asides import pieces
from manyhands.core.reading.parts import BRACKET, WRAPPING, Answer, normalise
from manyhands.core.reading.plain import plainly
from manyhands.core.reading.ranks import by_place
from manyhands.core.reading.words import forms_of, tokens
from manyhands.core.talk import Message
from manyhands.wrappers.ongoing import goes_on, goes_on_with


class SkillSet(Protocol):
    """The result of an environment's `skill_set()`: a table of S skills, each a stateless, pure
    controller that reads one agent's row of `Env.perceive`.

    Where `with_memory()` exists, it gives a set of the same kind whose skills remember: it has
    `memory`, a number of bytes, and reads rows in which these follow the perception; `first
    (perception)` is the memory, u8[memory], at the start, and `remember(row, action, perception)`
    that after a primitive action. All is pure, and who runs the skills keeps the memory.

    Attributes:
        names: the table, S names.
        instant: bool[S], whether a skill always ends after one step.
        wait: index of the skill that does nothing.
        families: optional, for each skill what it has in common with others of its family and
            what is its own, ("find {name}", "alarm clock"); by default the last word is its own.
        plain_steps: optional, True if a sentence that names no skill may name an action of the
            environment, for one step; in words, such a skill is called "step: " and the action.
        doing: optional, a function of a skill: other words for what it does, by which a sentence
            may go on with it, ("chop", "wood gathering").
        settled: optional, a function of the skill that an answer names, the answer and the agent's
            perception: the skill with what the rest of the answer says of it.
        idle: optional, a function of the agent's perception: the skills that are no more than to
            wait now, and are read so while they cannot be chosen.
        rests: optional, True if the skill that does nothing has no end: it is under way until
            another is chosen.
        lawful_steps: optional, the skill of each action of the environment (`primitive`), if plain
            steps can be chosen only while their actions are legal in the environment, which
            `survey` then need not know.
    """

    names: tuple[str, ...]
    instant: np.ndarray
    wait: int

    def survey(self, perception: Array) -> tuple[Array, Array, Array]:
        """(action [S, *action_space.shape], done bool[S], possible bool[S]) of all skills:
        the next primitive action, whether the skill's goal is reached, and whether it can be
        chosen. A skill that is done is not possible, unless it is instant."""

    def control(self, perception: Array, skill: Array) -> tuple[Array, Array, Array]:
        """`survey` of one skill."""

    def primitive(self, action: Array) -> Array:
        """The skill that takes one primitive action; traceable."""

    def words(self, perception: np.ndarray) -> list[str]:
        """For each skill its effect now, or why it cannot be chosen."""

    def parse(
        self, text: str, perception: np.ndarray | None = None, current: int | None = None
    ) -> int | None:
        """The skill that a sentence names, None if it names none; may raise `IllegalAction`. What
        it says may count from the agent's perception, and from its skill if one is under way."""

    def rules(self) -> str:
        """The skills, explained to a player. Where the set has an `example`, the name of a skill,
        they take the place of how to answer with plain actions; else they stand after it."""


_NUMBERS = re.compile(r"(?<![\w-])-?\d+(?:\.\d+)?")  # "player_1" is a name
STEP = "step: "  # before the name of an action that is taken for one step
STATUS = ("none yet", "done", "under way", "impossible, you stayed where you were")
NEW, DONE, UNDER_WAY, IMPOSSIBLE = range(4)


@state_dataclass
class SkillState:
    """The wrapped state, and the status of each agent's skill.

    Attributes:
        inner: state of the wrapped environment.
        skill: i16[N], chosen in the last step.
        status: u8[N], index into `STATUS`.
        memory: u8[N, memory of the skill set], what each agent remembers; () without memory.
    """

    inner: Any
    skill: Array
    status: Array
    memory: Any = ()


class Skills(Wrapper[SkillState]):
    """The environment `env`, played by skills.

    Args:
        env: an environment whose `skill_set()` gives a `SkillSet`.
        memory: whether skills know what their agent has seen before, and not only what it sees;
            where the set can (CraftWorld's). Then there may be more skills, and which are possible
            does not follow from the observation alone.

    Actions are `Discrete(S)`, the skills in table order (`skills.names`). An impossible skill plays
    `env.noop`, counted in `metrics["illegal"]`. Observations, perceptions and rewards are those of
    `env`; the metric `skills_done` counts agents that finish a skill (not an instant one) in this
    step.
    """

    id = "skills"

    def __init__(self, env: Env, memory: bool = False):
        skills = env.skill_set()
        if skills is None:
            raise ConfigError(f"{env.id!r} ships no skill set (`Env.skill_set`)")
        self.memory = boolean("memory", memory)
        if memory:
            if not hasattr(skills, "with_memory"):
                raise ConfigError(f"the skills of {env.id!r} remember nothing; leave out memory")
            skills = skills.with_memory()
        super().__init__(env)
        self.batched, self.chat, self.keys = False, None, {}
        self.skills: SkillSet = skills
        self.action_space = gymnasium.spaces.Discrete(len(self.skills.names))
        self.noop = self.skills.wait
        self._rows = jax.jit(self.rows)
        self._steps: tuple[np.ndarray, np.ndarray] | None = None
        steps = np.asarray(getattr(skills, "lawful_steps", ()), int)
        if len(steps):
            checked = np.asarray(skills.instant)[steps] & (steps != skills.wait)
            self._steps = steps[checked], np.flatnonzero(checked)

    def config(self) -> dict[str, Any]:
        return {"memory": True} if self.memory else {}

    def lift(self, action: Array) -> Array:
        """The skill that takes one primitive action of `env`; traceable."""
        return self.skills.primitive(action)

    def lower(self, legal: Array) -> Array:
        """A row of `env.legal`: the entries of `legal` for skills that take one primitive
        action."""
        space = self.env.action_space
        primitives = jnp.arange(space.start, space.start + space.n)  # type: ignore[attr-defined]
        return legal[jax.vmap(self.skills.primitive)(primitives)]

    # ---- pure ---------------------------------------------------------------------------------

    def inner(self, state: SkillState) -> Any:
        return state.inner

    def skill_set(self) -> None:
        return None  # the skills are the actions here

    def words(self, action: Action, state: SkillState, agent: str | int) -> None:
        return None

    def begin(self, inner: Any) -> SkillState:
        n = self.num_agents
        skill = jnp.full(n, self.skills.wait, jnp.int16)
        status = jnp.full(n, NEW, jnp.uint8)
        if not self.memory:
            return SkillState(inner, skill, status)
        skills: Any = self.skills
        return SkillState(inner, skill, status, jax.vmap(skills.first)(self.env.perceive(inner)))

    def rows(self, state: SkillState) -> Array:
        """What the agents' skills read, [N, K]: their perceptions, and what they remember."""
        return self._with_memory(self.env.perceive(state.inner), state.memory)

    def _with_memory(self, rows: Array, memory: Any) -> Array:
        return jnp.concatenate([rows, memory], axis=1) if self.memory else rows

    def step(self, key: Array, state: SkillState, actions: Array) -> tuple[SkillState, Outcome]:
        count = len(self.skills.names)
        known = (actions >= 0) & (actions < count)
        chosen = jnp.where(known, actions, self.skills.wait)
        control = jax.vmap(self.skills.control)
        rows = self.rows(state)
        moves, _, possible = control(rows, chosen)
        acting = self.env.acting(state.inner)
        possible = possible & known
        if self._steps is not None:
            lawful = self._lawful(state)
            possible = possible & lawful[jnp.arange(self.num_agents), chosen]
        noop = jnp.asarray(self.env.noop, moves.dtype)
        mask = possible.reshape(possible.shape + (1,) * (moves.ndim - 1))
        played = jnp.where(mask, moves, noop)
        inner, outcome = self.env.step(key, state.inner, played)

        seen, memory = self.env.perceive(inner), state.memory
        if self.memory:
            skills: Any = self.skills
            memory = jax.vmap(skills.remember)(rows, played, seen)
        _, done, _ = control(self._with_memory(seen, memory), chosen)
        instant = jnp.asarray(self.skills.instant)[chosen]
        status = jnp.where(done | instant, DONE, UNDER_WAY)
        status = jnp.where(possible, status, IMPOSSIBLE)
        finished = acting & possible & done & ~instant
        metrics = dict(outcome.metrics)
        illegal = jnp.sum(acting & ~possible).astype(metrics["illegal"].dtype)
        metrics["illegal"] = metrics["illegal"] + illegal
        metrics["skills_done"] = jnp.sum(finished).astype(jnp.float32)
        outcome = Outcome(
            outcome.reward, outcome.terminated, outcome.truncated, outcome.terms, metrics
        )
        new = SkillState(
            inner,
            jnp.where(acting, chosen, state.skill).astype(jnp.int16),
            jnp.where(acting, status, state.status).astype(jnp.uint8),
            memory,
        )
        return new, outcome

    def legal(self, state: SkillState) -> Array:
        _, _, possible = jax.vmap(self.skills.survey)(self.rows(state))
        possible = possible & self.env.acting(state.inner)[:, None]
        return possible if self._steps is None else possible & self._lawful(state)

    def _lawful(self, state: SkillState) -> Array:
        """bool[N, S]: false of plain steps whose action is not legal."""
        skills, actions = self._steps  # type: ignore[misc]
        every = jnp.ones((self.num_agents, len(self.skills.names)), bool)
        return every.at[:, skills].set(self.env.legal(state.inner)[:, actions])

    # ---- words and pictures -------------------------------------------------------------------

    def rules(self, agent: str | int) -> str:
        example = getattr(self.skills, "example", "")
        if example:
            how = (
                'Answer with the name of a skill in every step; "go on" is the one under way. '
                f"{how_to_answer(example)}\n{self.skills.rules()}"
            )
            return answered(self.env.rules(agent), how)
        return (
            f"{self.env.rules(agent)}\n\nSKILLS\nIn place of the actions above, answer with the "
            f'name of a skill, in words; "go on" names the one under way.\n{self.skills.rules()}'
        )

    def describe(
        self,
        state: SkillState,
        agent: str | int,
        *,
        detail: str | None = None,
        talk: Sequence[Message] = (),
    ) -> str:
        """The wrapped text, and a line on the agent's last skill."""
        i = self.index(agent)
        status = int(np.asarray(state.status)[i])
        text = super().describe(state, i, detail=detail, talk=talk)
        if status == NEW:
            return f"{text}\nYour last skill: none yet."
        name = self.skills.names[int(np.asarray(state.skill)[i])]
        if self._plain and name.startswith(STEP):
            name = "a plain step"
        how = STATUS[UNDER_WAY if self._lasts(state, i, status) else status]
        legal, skill = np.asarray(self._legal(state))[i], int(np.asarray(state.skill)[i])
        idle = _idle(self.skills, self._row(state, i)) if status == UNDER_WAY else ()
        if status == UNDER_WAY and legal.any() and not legal[skill] and skill not in idle:
            why = self.skills.words(self._row(state, i))[skill]
            how += f", but impossible now: {why}" if why else ", but impossible now"
        more = ' "go on" continues it.' if status == UNDER_WAY and legal[skill] else ""
        return f"{text}\nYour last skill: {name} ({how}).{more}"

    def choices(
        self, state: SkillState, agent: str | int, limit: int | None = LIMIT
    ) -> list[Choice]:
        i = self.index(agent)
        legal = np.asarray(self._legal(state))[i]
        offers = getattr(self.skills, "offers", None)
        if offers is not None:
            return list(offers(self._row(state, i), limit)) if legal.any() else []
        return self._offers(state, i, self._row(state, i), legal, limit)

    def _offers(
        self, state: SkillState, i: int, row: np.ndarray, legal: np.ndarray, limit: int | None
    ) -> list[Choice]:
        """The skills that can be chosen, of a set that does not offer them itself."""
        words = self.skills.words(row)
        names, able = self._names(state, i), np.flatnonzero(legal).tolist()
        forms: dict[int, Form] = {}
        if limit is not None and len(able) > limit:
            status = int(np.asarray(state.status)[i])
            begun = int(np.asarray(state.skill)[i]) if status == UNDER_WAY else None
            forms = self._forms(able, words, names, begun)
        listed = [
            Choice(names[s], words[s], s, certain=not words[s], form=forms.get(s)) for s in able
        ]
        return fold(listed, limit)

    @property
    def _plain(self) -> bool:
        return getattr(self.skills, "plain_steps", False)

    def _names(self, state: SkillState, i: int) -> Sequence[str]:
        """The names of the skills, for one agent: plain steps with the words of their actions."""
        if not self._plain:
            return self.skills.names
        names = list(self.skills.names)
        for choice in self.env.choices(state.inner, i, None):
            skill = int(self.skills.primitive(choice.action))
            if skill != self.skills.wait:
                names[skill] = STEP + choice.text
        return names

    def _forms(
        self,
        able: Sequence[int],
        words: Sequence[str],
        names: Sequence[str],
        begun: int | None = None,
    ) -> dict[int, Form]:
        """The families of skills that differ in a number or in their last word, and of plain
        steps: by skill. The skill that is `begun` stands for its family."""
        own: Sequence[tuple[str, str]] = getattr(self.skills, "families", ())
        families: dict[str, list[int]] = {}
        for s in able:
            key = _NUMBERS.sub("{n}", names[s])
            if self.skills.instant[s]:
                key = "" if s != self.skills.wait else names[s]
            elif own:
                key = own[s][0]
            elif key == names[s]:
                key = f"{names[s].rpartition(' ')[0]} {{name}}"
            families.setdefault(key, []).append(s)
        forms: dict[int, Form] = {}
        for key, family in families.items():
            if not key:
                told, what = "a plain step; or any other action of the rules, if it is possible", []
            else:
                told = words[begun if begun in family else family[len(family) // 2]]
                what = [
                    [own[s][1]]
                    if own
                    else _NUMBERS.findall(names[s]) or names[s].rsplit(" ", 1)[-1:]
                    for s in family
                ]
            values = [value for value, *more in what if not more]
            if len(values) == len(family) > 2:
                counts = [int(value) for value in values if value.isdigit()]
                in_turn = bool(counts) and counts == list(range(counts[0], counts[0] + len(values)))
                others = f"{values[0]} to {values[-1]}" if in_turn else ", ".join(values)
                differ = " (the steps differ)" * (len({words[s] for s in family}) > 1)
                told = f"{told}; any of {others}{differ}"
            elif what:
                told = f"{told}; any of {len(family)} such places in reach"
            example = "" if key else names[family[0]]
            if key and begun in family:
                example = names[begun]
            form = Form(key, told, {"value": tuple(values)}, example)
            forms |= dict.fromkeys(family, form)
        return forms

    def parse(self, text: str, state: SkillState, agent: str | int) -> Action:
        """The skill that an answer names; "go on" is the one under way."""
        i = self.index(agent)
        row, status = self._row(state, i), int(np.asarray(state.status)[i])
        current = int(np.asarray(state.skill)[i]) if self._lasts(state, i, status) else None
        legal, offers = np.asarray(self._legal(state))[i], getattr(self.skills, "offers", None)
        shown: Sequence[Choice] = ()
        if offers is not None:
            shown = offers(row)
        elif legal.sum() > LIMIT:
            shown = self._offers(state, i, row, legal, LIMIT)

        def step(words: str) -> int:
            return int(self.skills.primitive(self.env.parse(words, state.inner, i)))

        plain = step if self._plain else None
        name = self.agents[i]

        def read(said: Any) -> int:
            return read_skill(self.skills, said, row, legal, current, shown, name, plain, i)

        return by_place(text, lambda: unfolded(lambda most: self.choices(state, i, most)), read)

    def _lasts(self, state: SkillState, i: int, status: int) -> bool:
        """Whether the last skill of an agent is under way."""
        rests = getattr(self.skills, "rests", False)
        resting = status == DONE and int(np.asarray(state.skill)[i]) == self.skills.wait
        return status == UNDER_WAY or (rests and resting)

    def _row(self, state: SkillState, i: int) -> np.ndarray:
        return np.asarray(self._rows(state))[i]

    def _legal(self, state: SkillState) -> Array:
        compiled = self.__dict__.get("_compiled_legal")
        if compiled is None:
            compiled = self.__dict__["_compiled_legal"] = jax.jit(self.legal)
        return compiled(state)

    def draw(
        self, state: SkillState, canvas: Any, agent: str | int | None = None, camera: str = ""
    ) -> None:
        doing = [self.skills.names[int(s)] for s in np.asarray(state.skill)]
        self.env.draw_doing(state.inner, canvas, doing, agent, camera)

    def to_dict(self, state: SkillState) -> dict[str, Any]:
        skills = [self.skills.names[int(s)] for s in np.asarray(state.skill)]
        statuses = [STATUS[int(s)] for s in np.asarray(state.status)]
        own = {
            name: {"skill": skill, "status": status}
            for name, skill, status in zip(self.agents, skills, statuses, strict=True)
        }
        return {**self.env.to_dict(state.inner), "skills": own}


# ---- rules ---------------------------------------------------------------------------------------

_ANSWERS = "\n\nHOW TO ANSWER\n"  # the heading of the last section of all rules


def answered(rules: str, how: str) -> str:
    """Rules with another way to answer in place of theirs; sections of wrappers after it stay."""
    start, _, rest = rules.partition(_ANSWERS)
    _, gap, others = rest.partition("\n\n")
    return f"{start}{_ANSWERS}{how}{gap}{others}"


# ---- reading answers -----------------------------------------------------------------------------


def unfolded(choices: Callable[[int | None], list[Choice]]) -> list[Choice]:
    """All choices, if all are shown; none otherwise, as their places tell nothing then."""
    every = choices(None)
    return every if [*map(str, choices(LIMIT))] == [*map(str, every)] else []


# "I choose the skill ...": what is named comes after it.
_OPENING = re.compile(
    r"^(?:(?:i|i'll|i will|let me) )?(?:(?:choose|select|execute|perform|use|run) )?"
    r"(?:(?:the|my|this|next) )*(?:skill|option)(?: is)?[:=]? |^(?:choose|select|execute|perform) "
)
NEAREST = 4  # skills that an error names


def read_skill(
    skills: SkillSet,
    text: Any,
    row: np.ndarray,
    possible: np.ndarray,
    current: int | None,
    shown: Sequence[Choice] = (),
    me: str = "",
    step: Callable[[str], int] | None = None,
    index: int | None = None,
) -> int:
    """The skill that an answer names.

    Args:
        row: the agent's perception.
        possible: bool[S], the skills that can be chosen.
        current: the skill that is under way.
        shown: choices as they were offered, where their lines are not names and effects.
        me: the name of the agent.
        step: the skill that takes the action of the environment that a sentence names, for one
            step; it raises `IllegalAction` if there is none.
        index: the number of the agent; a skill set may call other players as it sees them
            (`addressed`).
    """
    effects = skills.words(row)
    if isinstance(text, str):  # "I don't dare to step: go north" has no order behind its colon
        text = re.sub(rf"(?<!\bis )to {STEP}", "to ", text)
    open_ = {skills.names[k]: effects[k] for k in np.flatnonzero(possible).tolist()}
    text = without_effects(text, lambda: [*shown, *itertools.starmap(Choice, open_.items())])
    addressed = getattr(skills, "addressed", None) if index is not None else None
    idle = _idle(skills, row)
    if idle and (current is None or not possible[current]):
        current = skills.wait  # asleep, "go on" is to sleep on

    def mean(plain: str) -> int | None:
        if addressed is not None:
            plain = addressed(plain, index)
        found = skills.parse(plain, row, current)
        if found is not None or step is None:
            return found
        # The environment reads "go to the fridge lol", too, as a step: the skill comes first.
        bare = plainly(plain)
        found = skills.parse(bare, row, current) if bare != plain else None
        if found is not None:
            return found
        if plain.startswith(STEP):
            return step(plain.removeprefix(STEP))
        # Of "I check the kitchen, you the hall" and "selected: bring the cup to the bed" the reader
        # of answers finds the skill; the environment would find a step in it.
        parts = pieces(plain) or ()
        behind = plain.partition(":")[2].strip()
        if (len(parts) > 2 and any(names_skill(part) for part in parts[1:])) or (
            behind and names_skill(behind)
        ):
            return None
        try:
            taken = step(plain)
        except IllegalAction:
            return None
        # "do(go to fridge)" and "go to fridge as it is near" name the skill, whatever is around it.
        named = {name for name in _names(skills.names).findall(plain) if not name.startswith(STEP)}
        return skills.names.index(named.pop()) if len(named) == 1 else taken

    def names_skill(words: str) -> bool:
        try:
            return skills.parse(words, row, current) is not None
        except IllegalAction:
            return True

    other = getattr(skills, "doing", None)
    doing = () if current is None or other is None else tuple(other(current))
    near = list(open_)
    skill = _read(
        text, skills.names, mean, current, me=me, near=near, rest=skills.wait, doing=doing
    )
    settle = getattr(skills, "settled", None)
    if settle is not None and skill != current:
        skill = settle(skill, text, row)
    if skill in idle and not possible[skill]:
        skill = skills.wait
    if not possible[skill]:
        why = effects[skill] or "it would change nothing"
        raise IllegalAction(f"{skills.names[skill]!r} is impossible now: {why}")
    return skill


@functools.lru_cache(maxsize=64)
def _names(names: tuple[str, ...]) -> re.Pattern[str]:
    """Finds the names of a table in a sentence, the longest at each place."""
    longest = sorted(names, key=len, reverse=True)
    return re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, longest))})(?![\w-]| \d)")


def _idle(skills: SkillSet, row: np.ndarray) -> Container[int]:
    """The skills that are no more than to wait now: to sleep, for who is asleep."""
    found = getattr(skills, "idle", None)
    return found(row) if found is not None else ()


def read_option(
    table: Sequence[str],
    text: Any,
    mean: Callable[[str], int | None],
    current: int | None,
    shown: Sequence[Choice] = (),
) -> int:
    """The option that an answer names: what `mean` makes of a sentence, or the `current` one."""
    return _read(without_effects(text, lambda: shown), table, mean, current, "option", 2)


def _nearest(words: str, names: Sequence[str], most: int) -> list[str]:
    """The names that share words with a sentence, then those that are spelt most like it."""
    said = {form for word in tokens(words) for form in forms_of(word)} - _COMMON
    alike = closest(words, names, len(names))
    shared = {name: len(said.intersection(tokens(name))) for name in alike}
    return sorted(alike, key=lambda name: -shared[name])[:most]


_COMMON = frozenset(str.split("to the a an you i until of in and for go on"))


def _read(
    text: Any,
    table: Sequence[str],
    mean: Callable[[str], int | None],
    current: int | None,
    what: str = "skill",
    most: int = NEAREST,
    me: str = "",
    near: Sequence[str] = (),
    rest: int | None = None,
    doing: Sequence[str] = (),
) -> int:
    """The row of a table that an answer names; an error tells the nearest of `near`, or of all.
    `rest` is the row that goes nowhere; `doing` are other words for what is under way."""
    words = ""
    # Of a plain sentence all words tell what was meant, not only those read last.
    plain = isinstance(text, str) and len(text) <= 300 and "\n" not in text.strip()
    whole = normalise(text) if plain else ""

    def refusal(reason: str, words: str) -> str:
        # Names that differ in numbers only are as one.
        alike = {re.sub(r"[-.\d]+", "", name): _shape(name) for name in reversed(near or table)}
        found = _nearest(words, list(alike.values())[::-1], most)
        if not reason:  # what a slip of the pen may have been meant for
            said = tokens(words)  # "over" is no slip for "hover"
            return ", ".join(name for name in found if name[1:] not in said)
        one = f"{'an' if what[0] in 'aeiou' else 'a'} {what}"
        return f"{reason}. Name {one} in words; nearest: {', '.join(found)}."

    def refuse(reason: str) -> IllegalAction:
        return IllegalAction(functools.partial(refusal, reason, whole or words))

    def meant(answer: Answer) -> int | None:
        nonlocal words
        words = _OPENING.sub("", normalise(answer.raw).strip(WRAPPING.replace(".", "")))
        if answer.kind != BRACKET and (number(answer.plain) is not None or numbered(answer.plain)):
            raise refuse(f"{quoted(answer.text)}: {what}s have no numbers")
        going = goes_on(words)
        if going is None or (going == "trip" and current is not None and current == rest):
            found = mean(words)
            if found is None and current is not None and goes_on_with(words, table[current], doing):
                return current
            return found
        if current is None:
            raise IllegalAction(f"no {what} is under way that could go on; name one of the choices")
        return current

    return int(
        decide(
            text, meant, refuse, what=what, me=me, calm=lambda why: _is_calm(why, table, current)
        )
    )


_PLACE = re.compile(r"\((-?[\d.]+(?:, -?[\d.]+){1,2})\)")


def _shape(name: str) -> str:
    """A name with letters for the numbers of its place: "go to (x, y, z)"."""
    return _PLACE.sub(lambda found: f"({', '.join('xyz'[: found[1].count(',') + 1])})", name)


# What a player takes to be under way, as a reason to go on with it.
_UNDER_WAY = re.compile(r"\b(?:under ?way|in progress|already (?:started|begun|going|on))\b", re.I)


def _is_calm(reason: str, table: Sequence[str], current: int | None) -> bool:
    """Whether a reason leaves the skill that is named beside it as it is: "my bump is under way, so
    I go on" does not, where something else is."""
    if current is None or not _UNDER_WAY.search(reason):
        return True
    verbs = {name.split(maxsplit=1)[0] for name in table} - {"go"}
    told = verbs.intersection(tokens(reason))
    return not told or table[current].split(maxsplit=1)[0] in told
