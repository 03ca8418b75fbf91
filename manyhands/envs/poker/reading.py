"""Ways to say the actions of poker, as a `Grammar`."""

from __future__ import annotations

from manyhands.core.reading.grammar import Grammar
from manyhands.core.reading.words import RANKS
from manyhands.envs.poker.manner import phrases

_NAMED_RANKS = {
    **{name: name for name in ("jack", "queen", "king", "ace")},
    **{"j": "jack", "q": "queen", "k": "king", "10": "10", "ten": "10"},
}
_CARD = "({held}|pair of {held})"
_HELD = f"(my|this|the) {_CARD} [of (heart|spade|diamond|club)]"
_ITS = "[it's|it is|that's|that is|this is] [going to be]"
# How a move is made: "an easy call".
_HOW = (
    "[an|the|a] [very|pretty|fairly|rather] [easy|simple|quick|clear|trivial|automatic|standard"
    "|obvious|straightforward|natural|mandatory|routine|loose|light|tight|reluctant|grudging"
    "|cautious|careful|sneaky|tricky|clever|sly|disciplined|sensible|sad|happy|comfortable]"
)
_MINE = "[(for|from) me|as a bluff|for value|with (the nuts|a monster|the best (hand|card))]"
_SEAT = "({other}|opponent|my opponent|other player|him|her|you|them)"
_WHOSE = "(the|your|that|this|his|her|their|{other} 's)"
_CHIPS = (
    "[full|whole|entire|required|last|remaining|necessary] {n:count} "
    "[more|single|whole|extra|measly|little|lousy] chip"
)
_FEW = "{n} [more|single|whole|extra] chip"
_POT = "(the|this|that|my) (pot|middle|center|centre|table)"
_PUTS = "(put|throw|toss|push|slide|shove|drop|stick|chuck|move|send|place|pop|plunk|fling)"
_NOW = "[here|now|yet|for now|at all|more|this (time|turn|round|hand)] [from me|to the pot]"
_ROUND = "(hand|pot|round|one|1|deal|contest)"
_PHRASES = {
    "check": [
        f"{_ITS} {_HOW} check [it] [behind|back|down|over] [(for|to) {_SEAT}] [for me]",
        f"{_ITS} {_HOW} check {_MINE}",
        "(tap|knock|rap) [(the|on the) table]", "no bet [.] check", "check [.] no bet",
        "check (my|this|the) (option|turn|1|one|pair)", "check (around|along|through)",
        "stay put", "let [(it|this)] pass",
        "(slow play|sandbag) [.] [and|with] [a|i] check", "check with (my|this|the) " + _CARD,
        "decline to bet [.] [and] [check] [instead]",
        "(make|give|play) [a] check", "check (this|in this) (one|1|round|hand)",
        f"(pass|give|leave|hand) (the (action|turn|move|word|betting)|it) [over|on|back] to "
        f"{_SEAT} "
        "[(by|with) [a] check]",
        f"(over to|(the|a) action is on) {_SEAT} [.] [and] [i] check",  "check it is",
        f"check [.] [and] [it's|it is|now it's] {_WHOSE} (turn|move|go|action|decision) "
        f"[{{other}}]",
        f"check [.] [and] (over to|the action is on|up to|let's hear from) {_SEAT}",
        "let it check through",
        "(see|take) (the|a) (next|free) card for free", "(take|have) a free card",
        "pass [the|my] (action|turn|move) [(on|along)]",
        f"(do nothing|(put|add|pay|wager|stake) nothing [in]|(put|add) no chip [in]) {_NOW}",
        "(go|head|move) [straight|right|directly] to [the] showdown [.] [no bet from me]",
        "[just] (a|the) check [here|for me]", "pass the action with a check",
        "(see|go to|have|take) [the|a] showdown for (free|nothing)",
        "(see|go to|have|take|get) [the|a|my] free showdown",
        "[i'm first to act .] [and] [i] knock",
        f"do nothing {_NOW} and (go|get|come) to [the] showdown",
        "(tap tap|knock knock)", "(trap|slow play|sandbag|induce) [him|her|them] with a check",
    ],
    # As OpenSpiel calls it: no chips are put in.
    "pass": ["pass", "put in nothing", "pay nothing"],
    "bet": [
        f"({_PUTS}|add) [in|out] {_CHIPS} [in|out|forward] [(in|into|on|to|toward) {_POT}] "
        "(as|for) [a|my] bet",
        f"{_ITS} {_HOW} [value|lead|thin value] bet [it] [{{n}} [chip]] {_MINE}",
        "fire [out] {n:count} [chip]", "all in (for|with) {n:count} chip",
        "open [with|for] [{n} [chip]]",
        f"bet {_CHIPS} {_MINE} [on it]",
        "go for [a] bet", f"{_ITS} [a] bet [of {{n}} [chip]] {_MINE}",
        f"{_ITS} [a] {{n}} [-] chip bet {_MINE}", "bet {n} [chip] (straight|right) out",
        "(make|place|put in) [a|the|my] (minimum|maximum|smallest|biggest|largest|only|full) "
        "[possible|allowed] bet [of {n} [chip]] [allowed|possible]", "go {n:count} chip [in]",
        "lead out with [a] bet [of {n} [chip]]",
        "(make (it|this) (interesting|exciting|fun|expensive)|spice it up|start (it|this) off) [.] "
        "[with] {n:count} chip",
        "make it {n} [chip]", "start with a bet [of {n} [chip]]",
        "bet (one|1|a|my) single chip", "bet (my|the|that) chip", "bet (out|now)", "lead [out]",
        "bet (my|the|that) (one|1|{n}|only|single|last) [chip] [i (can|may|have)|allowed]",
        "bet ((the|my) (max|maximum|most|limit|full amount) [i can|allowed|possible]|all i can) "
        "[.] [of|which is|that is|so] [{n} [chip]]",
        f"fire [off|out] {_CHIPS} [in|into {_POT}] {_MINE}",
        f"(increase|grow|raise|enlarge|build|sweeten) {_POT} (by|with) {_CHIPS}",
        f"bet {_CHIPS} (in|into) {_POT}", f"bet {_HELD} {_MINE}",
        f"(lead|open|fire) [out] with {_HELD} [for {{n}} [chip]]", "fire [again|away]",
        "(fire|bet) (again|once more)",
        "take the betting (lead|initiative)", "[bet] the full bet",
        "(fire|lead|fire off|fire out) [out] a bet [of {n} [chip]] [(in|into) [the] (pot"
        "|middle)]",
        "take the lead [with a bet]",
        "(make|place|put down|lay|put in|launch|start with) [a|my|the] [{n} [-] [chip]] bet "
        "[of {n} [chip]] [(in|into) [the] (pot|middle)]",
        "bet (it|with) {n} [chip]",
        "open [the] [betting|round|action|bidding|game|hand|pot] "
        "[(with|for) {n:count} [single] [chip]]",
        "open [the] [betting|round|action] (with|by) [a] bet [of {n} [chip]]",
        "open (for|with) a (bet|wager) [of {n} [chip]]",
        f"(stake|wager|risk|gamble|venture|invest) ({{n}}|{_CHIPS}) {_MINE}",
        f"{_HELD} is worth a bet [of {{n}} [chip]]",
        f"(stake|wager|risk|gamble) {_CHIPS} on (my|this) {_CARD}",
        "lead [out] (with|for) {n} [chip]", "get {n} chip in",
        f"bet [{{n}} [chip]] (on|with) {_HELD}", f"bet {_HELD}",
        f"bet {_HELD} for {{n}} [chip]",
        f"(back|support) {_HELD} (with|by) [a] (bet [of {{n}} [chip]]|{{n}} chip)",
        "(answer|reply|respond|act|begin) with a bet [of {n} [chip]]", "bet for value",
        "start [the] bet (with|for) {n:count} [chip]",
        f"(stake|wager|risk|gamble|bet) {{n}} [chip] on {_HELD}", "my bet is {n} [chip]",
    ],
    # Paid into the pot: a bet, or what a call costs.
    "chips": [
        f"({_PUTS}|add) [in|out] {_CHIPS} [in|out|forward] [(in|into|on|to|toward) {_POT}]",
        f"{_PUTS} [in] {{n}} [in]", f"{_PUTS} {{n}} (in|into|on|to|toward) {_POT}",
        f"(here's|here is|here are|there's|there goes|here goes|here comes|take) "
        f"(my [one|1|{{n}}|single|last|other]|the|{{n:count}}) chip [in|into {_POT}]",
        f"{_FEW} (in|into|go into|goes into|on|to|for) {_POT}",
        f"{_PUTS} (my|the) [one|1|{{n}}|only|single] chip (in|in {_POT}|into {_POT}|down|forward)",
        "in (go|goes) (my|a|one|1|the|{n}) [one|single|more] chip", "chip in [{n}]",
        f"(a|another|one|1|my|{{n}}) [more|extra] chip ((go|goes|comes) in [from me]"
        f"|from me [in|into {_POT}|on {_POT}])",
    ],
    "call": [
        f"{_ITS} {_HOW} [flat|just|only|simply|cold|hero|crying|snap|curious] "
        f"call [it] [{{n}} [more] [chip]] {_MINE}",
        "call (with|for) {n} [chip]", "call (him|her|them|you|{other}) down",
        "smooth call [with ({held}|my {held}|the {held})]",
        "flat (it|that|the bet|the raise)", "put me in [for {n}]",
        "[just] (a|the) call [here|for me]",
        f"[flat] (call|match|see|meet|cover|equal|pay [for]|accept|take|answer|answer with a call) "
        f"{_WHOSE} (bet|raise|wager|stake|chip) [(of|for|worth) {_CHIPS}] "
        f"[(of|by|from|made by) {_SEAT}]",
        f"(call|match|see|meet|cover|equal) {_WHOSE} {{n}} [chip]",
        "(match|meet|cover|equal|pay) [the] {n:count} [more] chip [(from|of) {other}]",
        "pay [the|those] {n:count} [more] [chip] "
        "[to (stay in|see it|call|continue|go on|see (your|the|that) card)]",
        "(match|pay|cover|meet) it", "(i'll|i will) see it", "(call|match) [{other}|you]",
        f"(call|match|see|meet) [the] {{n:count}} [more] chip (of|from) {_SEAT}",
        "pay to (see|call|continue|stay [in]|go on) "
        "[it|that|(your|the|that|next|public) [public|next] card|[in] [the|this] hand]",
        "(call|see) you", "match", "(go|come) along [with it]", "stay in [the] [hand|pot|game]",
        "pay [the] (chip|bet|price|amount) [to (stay in|see it|call)]",
        "pay [the] (chip|bet|price|amount) [for] to see [the] (card|showdown)",
        "(stay|go) to [the] showdown",
        "(see|look at) (your|the|that) (card|cards)",
        "(pay|call) [to|and] see (your|the|that) (card|cards|hand)",
        "pay (you|him|her|them) off", f"look {_SEAT} up [with my {_CARD}]", "see that bet",
        f"keep {_SEAT} honest",
        "(call|see|catch) (the|your|his|her|their|{other} 's) bluff",
        "(see|catch) (that|this) bluff",
        "count me in [for {n} [more] [chip]]",
        "[be|stay|hang] in for [the|a|another] {n} [more|extra] [chip]",
        f"{_CHIPS} [from me] to stay [in]", "(put|throw) in [the] {n:count} [more] [chip] "
        "to (stay|call) [in]", "(put|throw|toss) in [the|a] chip to (stay|call) [in]",
        "(put|throw|toss) in [the] (extra|missing|one|1) chip",
        "(make|find) [the|a] (crying|hero|curious|loose|light|tough|easy|simple|quick) call",
        "pay {n:count} [chip] and see the (public|next|board) card",
        "pay [the|my] [{n:count}] chip and (see|go to|take) [the|a] (showdown|public card"
        "|next card)",
        "call and see [the] (showdown|public card|next card|card|cards|your card)",
        "call (the|this) bet",
        f"(put|throw|toss|push|slide|drop|chuck) [in] [the] {{n:count}} [more] chip [in] "
        f"[needed] "
        f"to (call|match|stay|stay in|see|continue|match {_WHOSE} (bet|raise)) "
        "[in the hand|in]",
        f"[the] {{n}} [more] chip {_MINE} to (call|match|stay|see|continue|meet) "
        f"[in|in the hand|it|(the|your|next|that) [next|public] card|{_WHOSE} (bet|raise)]",
        "(make|take|go with|put in|play) [the|a] call [of {n} [chip]]",
        "pay [up] [to stay in]", "[stay] in", "call it is",
        "(pay|put in) [the] {n:count} (extra|more|extra chip|more chip)",
        "(pay|put in) [the] {n:count} [more] chip (i'm|i am|that i'm|that i am) behind",
        f"call with {_HELD}", f"(keep|stay|hang) (in|in there|around) with {_HELD}",
        "(answer|reply|respond) with a call",
        "(stay|hang|keep) in for [the|a] [{n:count}] [more] chip",
    ],
    "fold": [
        f"{_ITS} {_HOW} [snap] fold [it|this|this one|them|'em|em] [up] "
        f"[here|now] {_MINE}",
        f"fold {_HELD}",
        f"get rid of ({_HELD}|it|this)",
        f"(give up|throw away|muck|let go of|ditch|surrender|discard|release|bin|dump|drop"
        f"|pitch) {_HELD}",
        "(be|get|go|drop|bow|back|step|duck|bail) out [of (this|the) " + _ROUND + "]",
        "give up [on] [(this|the) " + _ROUND + "]",
        "(give up|throw away|muck|drop|fold) the (hand|card)", "muck [it]",
        f"(give up|let go of|forfeit|surrender|write off|sacrifice|abandon) [{_HELD} and] "
        f"((my|the) ante|(the|my) [{{lost:n}}] chip [(that|which) i (paid|have paid|put in)|i "
        "(paid|put in)] [in the pot])",
        "cut my losses", f"fold to {_WHOSE} (bet|raise|pressure)", "back down",
        "(done|finished|through) with (this|the) " + _ROUND, "out of here",
        "(pass|slide|push|return|hand) (my|the) (card|cards|hand) [back|over|in] to the dealer",
        "(the|this) (pot|hand) is (yours|all yours|his|hers)", "(it's|it is) all yours",
        "you win this (one|1|hand|pot|round|time)",
        f"(lay|put|set|chuck|toss|throw) (it|them|this one|this 1|{_HELD}) "
        "(down|aside|away|to rest|in) [face down]",
        f"(lay|put|set) down (this one|this 1|{_HELD})",
        f"(throw|put|give) up (it|this one|this 1|{_HELD})",
        "out", "gone",
        f"[be] out of (this|the) {_ROUND}",
        f"{_HELD} and i (bow|drop|step|get|back) out [of (this|the) {_ROUND}]",
        f"(quit|leave|retire from|withdraw from|retreat from|abandon|forfeit|exit|sit out"
        f"|skip) "
        f"(this|the|my) {_ROUND}",
        f"(fold|drop|quit|retire|withdraw) (this|from this|in this) {_ROUND}",
        "surrender", "retire", "withdraw", "step aside",
        "throw in the (towel|hand|card)", "(give|leave|hand) {other} the pot",
        f"(be|am) done with (this|the) {_ROUND}",
        f"(give in|bow|yield) to {_SEAT} [.] [and] fold",
        f"(put|throw|send|drop|toss|chuck|fling|push|slide|dump) ({_HELD}|it|this|this "
        f"one|this 1|them) "
        "(in|into|to|on) [the] (muck|discard [pile]|trash|bin)",
        "let it go", "let this (one|1|hand) (go|pass)", f"let {_HELD} go",
        "let (you|him|her|them|{other}) (have|take|win) (it|the pot|this one|this 1|this pot)",
        "step out", "drop it", "bow out gracefully", "(get|step|move) out of (the|their) way",
        "[just] (a|the) fold [here|for me]", f"{_HELD} is (folded|mucked)", "muck (it|this|these)",
        "(give up|surrender|concede|yield|cede|leave|give|hand) (the|my|this) (pot|hand|chips) "
        f"[over] [to {_SEAT}]",
        f"(concede|yield) [to {_SEAT}]",
        "(the|this) (pot|hand) is (yours|his|hers) [.] [i] fold",
        "(make|play) [the|a] fold",
        "(too (expensive|risky|much|dear)|you win|not worth it|[it's|it is] not worth it) "
        "[for me] [.] [i] fold",
    ],
    "raise": [
        "(answer|reply|respond|fight back|hit back) with a [re] raise",
        f"reraise [it] [[by|with] {{n}} [more] [chip]|to {{to:n}} [chip]] {_MINE}",
        f"{_ITS} {_HOW} [re] raise [it] [again|up] [[by|with] {{n}} [more] [chip]|to {{to:n}} "
        f"[chip]] {_MINE}",
        f"[re] raise {_SEAT} [[by|with] {{n}} [more] [chip]|to {{to:n}} [chip]] {_MINE}",
        f"[will] (see|call|match|meet|cover|equal) ({_WHOSE} ({{due:n}} [chip]|bet|raise)|[the] "
        f"{{due:n}} [chip]|it) [.] [and|then] (raise|re raise|go up|bump) [it|{_SEAT}] [by] "
        "{n} [more] [chip] [on top]",
        f"{_WHOSE} {{due:n}} [chip] [.] (and|plus) {{n}} [more] [chip] [on top]",
        "(put|throw|pay|push|toss) [in] {to:n} [chip] [in] [.] {due:n} [chip] "
        "(to|for (a|the)) (call|match|see) [.] [and|plus] {n} [chip] "
        "(on top|more|extra|to raise|for (a|the) raise|as (a|the) raise)",
        "[just] (a|the) [re] raise [here|for me]",
        "(bluff|value) [re] raise [it] [to {to:n} [chip]|by {n} [chip]]",
        "(put|throw|add|pile|stack|toss) [in] {n} [more] [chip] on top "
        f"[of ({_WHOSE} (bet|{{due:n}} [chip])|it|that)]",
        f"{{n}} [more] [chip] on top [of ({_WHOSE} (bet|{{due:n}} [chip])|it|that)]",
        f"double (it|{_WHOSE} {{due:n}} [chip]|{_WHOSE} bet)", "go to {to:n} [chip]",
        "take it [up] to {to:n} [chip]", "(up|lift|push|crank) it [up] by {n} [chip]",
        f"[re] raise {_WHOSE} bet [(by|with) {{n}} [chip]|to {{to:n}} [chip]]",
        "[re] raise (you|him|her|{other})",
        "(make|put in|go for|throw in|fire in|pop in|put down) [a] [{n} [-] [chip]] [re] raise "
        f"[of {{n}} [chip]|to {{to:n}} [chip]] {_MINE}",
        f"{_ITS} [a] [re] raise [(of|by) {{n}} [chip]|to {{to:n}} [chip]] {_MINE}",
        "make it {to:n} [chip] [to go]", "(pop|bump|push) it [up] to {to:n} [chip]",
        "[re] raise [.] (putting|put) in {to:n} [chip] (in total|in all|altogether)",
        "make it a raise [of {n} [chip]|to {to:n} [chip]]",
        "bump [up] (it|the (bet|stakes|pot|price)) [up] [by {n} [chip]|to {to:n} [chip]]",
        "make [more] (high|higher|bigger) [the|my] bet", "make (the|my) bet (bigger|higher)",
        "bump it up", "(up|raise|increase|double|lift) the (stakes|bet|ante|price)",
        "(push|drive) the (bet|price|stakes) (up|higher)",
        "(go|come) (over the top|higher)", "(come|go) back over the top",
        f"raise [it] (with|on) {_HELD}",
    ],
}  # fmt: skip
GRAMMAR = Grammar(
    [*_PHRASES.items(), *phrases().items()],
    {
        "held": {name: name for name in ("hand", "card", "holding", "pair")} | _NAMED_RANKS,
        "rank": _NAMED_RANKS,
        "place": {**RANKS, "middle": 2, "last": -1, "final": -1},
        "other": {},
    },
    short={
        "bet": [f"{_FEW} {_MINE}", f"[a] [single] chip {_MINE}", f"{_FEW} on {_HELD}"],
        "chips": [f"{_FEW} (in|out|forward) {_MINE}", "[a] [single] chip in"],
        "fold": [f"{_HELD} (in|into|to) [the] muck", f"(away|out|down) with {_HELD}"],
    },
)  # fmt: skip
