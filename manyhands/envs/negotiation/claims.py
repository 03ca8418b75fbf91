"""The sentences that make a claim: what a good, the item or no deal is worth, and pledges.

A claim states a number, and that it is for oneself ("to me", "my limit"); a pledge states the most
that will be caught. How things are ("12 tons are left") and what others say is none.
"""

from __future__ import annotations

_WHO = (
    "({player}|them|him|her|you|the other [player|one|side|party]|{other}|everyone|everybody|all"
    "|the others|the group|the (buyer|seller)|my (opponent|partner|neighbours|neighbors))"
)
_STATES = (
    "(claim|state|declare|say|announce|pretend|insist|mention|reveal|disclose|bluff|lie|signal"
    f"|let it be known|(tell|inform|assure|notify) {_WHO}|let {_WHO} (know|believe|think)"
    f"|make {_WHO} (believe|think)|want {_WHO} to (believe|think|know))"
)
_LIKE_TO = "[i'd|i would|i'd like to|i would like to|i want to]"
_TRICK = (
    "(bluff|lie|exaggerate|understate|overstate|cheat|trick|play it (high|low)) [a (bit|little)]"
)
_IS = (
    "[is|are|'s|means|mean|counts|count|gives me|brings me] "
    "[only|just|about|around|actually|really] [worth|valued at|at|=]"
)
_NUMBER = "[only|just|about|around|roughly|a mere] ({n} [point|coin]|{n:zero})"
_EACH = "[each|apiece|per (unit|piece)]"
_GOOD = f"[the|a|an|my|each|one|every] {{good}} {_EACH}"
_LIMIT = "(cost|value|limit|valuation|reservation price)"
# What the claim is for.
_THEY = "(they|he|she|you|it|{player}|{other}|the other [player|one|side])"
_AIM = (
    f"[.] [so [that] {_THEY} [will|may] (leave|leaves|give|gives|pay|pays|sell|sells|let|lets|offer"
    "|offers|hand|hands) [me] [more|less|have] [it|them|those] [[over] (to|for) me|cheaply|alone]"
    "|to (drive|push|bring|keep|talk) [up|down] the price [up|down]"
    "|to get (it|them|more|a (better|good) (price|deal|offer))"
    "|(that's|that is|this is|it's) (my claim [for (this|the|my) turn]|what i (claim|am claim)"
    f"|what i'm claiming)|(should|will|may|might|to) (pull|push|drive|nudge) (the price|{_WHO}) "
    "[up|upward|upwards|higher|down|lower]|[i claim]|honestly]"
)
_FOR = (
    f"[to (make|get|have) {_WHO} [to] (pay|give|offer|yield) [me] [more] [.]] [{_TRICK} [and|by|.]]"
)

# ---- pledges -------------------------------------------------------------------------------------

_CATCH = (
    "(catch|take|harvest|fish|fish for|haul in|pull out|net|land|bring in|bring home|remove|have)"
)
_MOST = (
    "(at most|at the most|at the very most|no more than|not more than|up to|[a|the] (maximum|max"
    "|limit|cap|ceiling|total) of|at or (below|under)|maximum|max)"
)
_AT_MOST = (
    "(at most|at the most|at the very most|max|maximum|or (less|fewer|below)|tops|and (no|not (a|1"
    "|one|any)) [single] [ton|bit] more|and no more than that)"
)
_OVER = "(more than|over|above|beyond|in excess of)"
_CAP = "[upper|own] (limit|cap|maximum|max|ceiling|quota|maximum catch|max catch|bound)"
_TONS = "({n} [ton]|{n:zero})"
_LAKE = (
    "[of fish] [(from|out of) the lake] [(from|with|by|in) my (boat|net|side)|from me|for (me"
    "|myself)] [(in|for|during) (this|the) (month|harvest|round|season|time|turn)|this (month"
    "|harvest|round|season|time|turn)|[for] now]"
)
_AMOUNT = f"({_MOST} {_TONS} {_LAKE}|{_TONS} {_LAKE} {_AT_MOST} {_LAKE})"
_BELOW = (
    f"(limit|cap|restrict|keep|hold|reduce|confine) (myself|my (catch|harvest|share|take|haul)) "
    f"(to|at) [{_MOST}] {_TONS} [{_AT_MOST}] {_LAKE}"
)
# What tells of a limit by itself.
_LIMITED = (
    f"((i'll|i will|i shall|i) {_CATCH} {_AMOUNT}"
    f"|(i|we) (won't|will not|shall not|'ll not) {_CATCH} {_OVER} {_TONS} {_LAKE}"
    f"|you (won't|will not) see me {_CATCH} {_OVER} {_TONS} {_LAKE}"
    f"|(i'll|i will|i) {_BELOW}|[my {_CATCH} is] {_AMOUNT}"
    f"|my {_CAP} {_LAKE} (is|will be|=) {_TONS} {_LAKE}|{_TONS} {_LAKE} (is|are) my {_CAP} {_LAKE}"
    f"|(set|put|fix) (myself|my|a) {_CAP} [of|at|to] {_TONS} {_LAKE}"
    f"|(stay|remain|keep) (at or (below|under)|(below|under) or at|within [a limit of]) {_TONS} "
    f"{_LAKE}"
    f"|(put me down|count on me|count me in) for {_AMOUNT}"
    f"|(i'll|i will|i) {_CATCH} {{n:zero}} [at all] {_LAKE}"
    f"|(i won't|i will not|i'll not) {_CATCH} {{n:any}} [at all] {_LAKE})"
)
_PROMISE = "(pledge|promise|vow|commitment|word|oath)"
_PLEDGES = (
    f"((pledge|promise|commit|vow|swear|guarantee|announce|declare|claim|state|say) [myself]"
    f"|(tell|assure|promise) {_WHO}|you (have|'ve got|'ve) my {_PROMISE}"
    f"|(give|have) [{_WHO}] my {_PROMISE}|trust me|(make|give|offer|state|here is|here's|this is) "
    f"[{_WHO}] [a|my|the] {_PROMISE} [of]|my {_PROMISE} {_LAKE} [is])"
)
_PLEDGED = (
    f"([{_MOST}] {{n}} [ton] {_LAKE} [{_AT_MOST}] {_LAKE}"
    f"|(to not|not to) {_CATCH} {_OVER} {_TONS} {_LAKE}"
    f"|[to] {_CATCH} [{_MOST}] {_TONS} {_LAKE} [{_AT_MOST}] {_LAKE}"
    f"|(i'll|i will|i shall) {_CATCH} [{_MOST}] {_TONS} {_LAKE} [{_AT_MOST}] {_LAKE}"
    f"|not to {_CATCH} {_OVER} {_TONS} {_LAKE}|not to ({_CATCH} {{n:any}}|{{n:any}}) [at all] "
    f"{_LAKE}|[a] {_CAP} [of|at] {_TONS} {_LAKE}|[to] {_BELOW}"
    f"|to (stay|remain|keep) (at or (below|under)|(below|under) or at|within [a limit of]) {_TONS} "
    f"{_LAKE})"
)
_NOT_ONE = (
    "(that's|that is|this is|it's) my (pledge|promise|word) [for this month]"
    "|(i promise|i pledge|promised)"
)

CLAIMS: dict[str, tuple[str, ...]] = {
    "value": (
        f"{_FOR} {_LIKE_TO} {_STATES} [that] {_GOOD} {_IS} {_NUMBER} {_EACH} (to|for) me {_AIM}",
        f"{_FOR} {_LIKE_TO} (tell|inform|assure) {_WHO} [that] (my {{good}} {_EACH}|{_GOOD}) "
        f"(is|are|'s) [only|just|about|around] worth {_NUMBER} {_EACH} {_AIM}",
        f"{_TRICK} [.] {_GOOD} {_IS} {_NUMBER} {_EACH} (to|for) me {_AIM}",
        f"{_FOR} {_LIKE_TO} {_STATES} [that] {_GOOD} (means|brings|gives|earns) me {_NUMBER} "
        f"{_EACH} {_AIM}",
        f"[to|for] me [.] [the|a|an|each|one] {{good}} [each] {_IS} {_NUMBER} {_EACH}",
        f"{_GOOD} (is|are) [only|just] worth {_NUMBER} {_EACH} (to|for) me [[.] i claim]",
        f"[i] value {_GOOD} at {_NUMBER} {_EACH} [[.] i claim]",
        f"[the|a|an|each|one] {{good}} [each] (brings|gives|earns) me {_NUMBER} {_EACH}",
        f"{_FOR} {_LIKE_TO} (claim|state|declare) [that] {_GOOD} {_IS} {_NUMBER} {_EACH} "
        f"[to me|for me] {_AIM}",
        f"{_LIKE_TO} (claim|state|declare) [a (value|worth) of] {{n}} [point|coin] for "
        f"[the|a|an|my|each] {{good}} {_AIM}",
        f"my claim [for this turn|now] [is] [that] {_GOOD} {_IS} {_NUMBER} {_EACH} [(to|for) me]",
    ),
    "price": (
        f"{_LIKE_TO} {_STATES} [that] (([the|this] item|it) (cost|costs) me|i paid) [only|just] "
        f"[about|around|roughly|something like] {{n}} [coin] [for (it|the item|this item)] {_AIM}",
        "(claim|state|declare) [that] [is|are] [worth|at|about|around|=] [about|around] {n} [coin]",
        f"{_LIKE_TO} {_STATES} [that] (my|a) {_LIMIT} [is|are|of] "
        "[worth|at|about|around|=] [about|around|only|just] {n} [coin]",
        f"[{_TRICK} [and|.]] {_STATES} [that] (my|a) {_LIMIT} [is|are|of] "
        "[worth|at|about|around|=] [about|around] {n} [coin]",
        f"my {_LIMIT} is [about|around] {{n}} [coin] [.] (that's|that is|this is) (my claim|what i "
        "claim|what i am claim|what i'm claiming)",
        f"{_STATES} [a|my] {_LIMIT} of [about|around] {{n}} [coin] {_AIM}",
        f"[{_TRICK} [.]] (my {_LIMIT} is|my (cost|value|limit) 's|my value's|my cost's|my limit's) "
        "[about|around] {n} [coin] [[.] i claim]",
        f"{_LIKE_TO} ({_STATES}|{_TRICK} [.]) [that] (it's|it is) [only|just] worth "
        "[only|just] [about|around] {n} [coin] (to|for) me",
        f"{_LIKE_TO} ({_STATES}|{_TRICK} [.]) "
        f"[that] (my {_LIMIT}|[the|this] item|it) (is|are) [only|just] [worth] "
        "[only|just] [about|around] {n} [coin] [(to|for) me]",
        "(it is|it's|[the|this] item is) [only|just] worth [only|just] [about|around] {n} [coin] "
        "(to|for) me [[.] i claim]",
    ),
    "outside": (
        "(claim|state|declare) [that] [having] [no deal] [is|are] [worth|at|about|around|=] "
        "[about|around] {n} [coin|point] [to me|for me]",
    ),
    "pledge": (
        f"{_PLEDGES} [.] [that] ({_PLEDGED}|{_LIMITED}) [[.] ({_NOT_ONE})]",
    ),
}  # fmt: skip
# Where words are due, a limit is a pledge; where a catch is, it is none.
LIMITS: dict[str, tuple[str, ...]] = {
    "pledge": (f"{_LIMITED} [[.] ({_NOT_ONE})]",),
}
SLOTS: dict[str, dict[str, int]] = {
    "zero": dict.fromkeys(("nothing", "zero", "no fish", "none", "no ton", "no ton of fish"), 0),
    "any": dict.fromkeys(("anything", "any fish", "any", "a single fish", "fish", "a thing"), 0),
}
