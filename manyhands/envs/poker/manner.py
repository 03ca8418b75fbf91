"""Moves of poker that stand at the end, or at the beginning, of a sentence that says more: what a
player is after ("I keep him honest with a call"), what is not done ("no bet from me, check"), which
option it is ("option two, the bet"), and what comes of it ("I call and see the public card").

The move itself is always named, so that the rest only has to be known to be harmless.
"""

from __future__ import annotations

_SEAT = (
    "({other}|opponent|my opponent|other player|other one|him|her|you|them|everybody|everyone"
    "|others|other players|rest)"
)
_WHOSE = "(the|your|that|this|his|her|their|my opponent 's|{other} 's)"
_HELD = "(my|this|the) ({held}|pair of {held}) [of (heart|spade|diamond|club)]"
_THEIRS = "(my|this|the|a) {theirs:held}"
_CHIPS = "{n} [-] [more|single|whole|extra|further] [chip]"

# Each move as a name: "with a bet of 2 chips", "and fold".
_DOWN = f"(it|this|this one|this 1|this hand|them|{_HELD})"
_NAMED = {
    "check": (
        f"([simple|quick|quiet|easy] check [it] [behind|back|down|along|here] [to {_SEAT}]"
        "|(tap|knock on) the table|knock|rap the table)"
    ),
    "bet": (
        "[value|big|small|standard|easy|clear|simple] bet [it] "
        f"[[of|for] {_CHIPS}|(my|the|that|one|1|a) [single] chip]"
    ),
    "call": (
        f"([hero|crying|flat|just|simple|cold|easy|clear|standard] call [it|{_SEAT}] "
        f"[[of|for] {_CHIPS}]|(pay|match|cover|meet|put in|throw in|toss in) [the] {_CHIPS}"
        "|(pay|match|cover|meet) (it|the (chip|price|bet|amount))"
        f"|(put|throw|toss) [the] {_CHIPS} in"
        f"|(see|match|cover|meet|pay|call|accept) {_WHOSE} (bet|raise) [of {_CHIPS}])"
    ),
    "fold": (
        f"([easy|simple|quick|clear|sad] fold [it|this|this hand|{_HELD}] [to {_SEAT}]"
        f"|(lay|throw|put|toss|set) {_DOWN} (down|away|aside)|muck [{_DOWN}]"
        f"|(throw|put|toss) {_DOWN} (in|into) the muck|(give up|let go of|drop) {_HELD}"
        f"|let {_DOWN} go)"
    ),
    "raise": (
        f"[easy|clear|value|bluff] [re|check|check -] raise [it|{_SEAT}] "
        f"[[of|by] {_CHIPS}|to {{to:n}} [chip]]"
    ),
}
# What another did, who is followed.
_DID = {"check": "checked", "bet": "bet", "call": "called", "fold": "folded", "raise": "raised"}
_BY = (
    "([with|by|and|so|.] [i|i'll|i will|i'm|i just|i have to|i must|going to|to]"
    "|(with|by) (a|my) [nice|solid|quiet|quick|strong|simple|little]|by (making|putting in))"
)

# What is seen, or what comes, once a move is made.
_CARD = f"({_WHOSE}|a) [public|next|board|face down|hole|other|second] (card|cards|hand)"
_SEE = (
    f"show down|(show|compare|turn over|turn up|flip|flip over) [{_WHOSE}|our|my|both] (card|hand)"
    "|(get|go|come|head|take it|make it) [on] to [the|a] showdown|showdown"
    "|(see|find out) who (wins|is ahead|is better|is bluffing|is lying|has it|has what)"
    f"|(see|look at|wait for|watch|view|reveal|look for|turn up|take|get) ({_CARD}|[the] showdown"
    f"|[the] (second|next|last|final) round|[the] board)"
    f"|(see|find out|wait|wait for|wait and see|wait to see) (it|what happens|what comes|what "
    f"{_SEAT} "
    f"(do|does|has|have|holds|got|show|shows|hold)|who wins|how it goes|who has the better (card"
    f"|hand)|(if|whether) {_SEAT} (fold|folds|call|calls|bluff|bluffs|is bluffing|are bluffing"
    "|raises|bets|pays|dares|has it|have it))"
    f"|let's see ({_CARD}|it|them|what {_SEAT} (has|have|got|holds|do|does)|what happens"
    "|what comes|who wins)"
    f"|show [me] ({_CARD}|it|them|what {_SEAT} (have|has|got|hold|holds))"
    "|(go|move|continue|carry|proceed) [on] to [the] [(second|next) round|showdown]"
    "|(stay|remain|keep) in [the] (hand|pot|game)"
    f"|show [down] {_HELD}"
)
_AFTER = {
    "check": (
        f"(let|see) {_SEAT} (act|decide|move|go|do something|do it|make the [first] move|bluff"
        f"|bet|talk|speak|choose|act first|go first)|{_SEAT} (can|may) (act|decide|go|move)"
        f"|(wait|give {_SEAT} (the|a) (turn|move|action|chance [to bluff]))"
        "|keep the pot (small|as it is)|take the showdown|keep my chips"
        f"|(leave|give) (the (bet|betting|action|lead|next bet)|it) to {_SEAT}"
        f"|[because|since|as] [i] (want|hope|hope for|wait for|would like|like) [that] {_SEAT} "
        "[to] (bet|bets|bluff|bluffs|lead|leads|open|opens|fire|fires) [{theirs_n:n} [chip]]"
    ),
    "bet": (
        f"(push|press) {_SEAT} [hard]|(hope|pray|wait|look) (for|that) (a|an|the|{_SEAT}) (call"
        "|calls|fold|folds|pays [me] "
        f"[off]|pay [me] [off])|hoping {_SEAT} (calls|call|folds|fold|pays|pay) [with {_THEIRS}]"
        f"|hoping for a (call|fold)|(let|make) {_SEAT} (pay|decide|sweat|choose|think)"
        "|take [down] the pot|build the pot|get (paid|value)"
    ),
    "call": (
        f"(hope|pray|look|wait) (for|to|that) [i] [a|an|the|my] [hit|catch|pair|get|find|see] "
        f"[{_HELD}|{{held}}|one|the best]|{_SEAT} (may|can) show|keep {_SEAT} honest"
        f"|(win|hope to win|try to win) [the] [pot|hand]|pay {_CHIPS}|(put|throw) in {_CHIPS}"
    ),
    "fold": (
        "(lose|give up|forfeit|accept) (just|only|my|the|no more than)* (ante|loss|{lost:n} chip|"
        "chip) [i (paid|put in)]|(save|keep) (my|the|what) [other|remaining|rest of my] "
        "(chip|chips|money|i have)|(wait for|hope for) (a|the) (better|next) (hand|card|spot|deal"
        f"|cards)|(let|leave) {_SEAT} (have|take|win) (it|the pot)|move on|cut my losses"
        "|(i've|i have) (seen|had) enough [of (this|it|him|her|them|this (maniac|nonsense|game|guy"
        "|hand|madness|pressure))]"
        "|[(it's|that's|this is|it is|the price is|the bet is)] [far|way|just|simply|a bit] too "
        "(expensive|much|risky|rich|dear|steep|strong|high|hot) [for me|for my blood|for {held}]"
        "|[just|only] {lost:n} [chip] (rather than|instead of) {risk:n} [chip]"
        "|(losing|better lose|better to lose|i'd rather lose|it's better to lose) {lost:n} [chip] "
        "[is (better|cheaper) than] [losing] [than] {risk:n} [chip]"
        "|(lose|give up|pay|forfeit) [just|only] {lost:n} [chip] (rather than|instead of|not) "
        "{risk:n} [chip]"
        "|(live|wait) to (fight|play) another (day|hand)"
    ).replace("(just|only|my|the|no more than)*", "[just|only|no more than] [my|the]"),
    "raise": (
        f"(make|let) {_SEAT} (pay|decide|sweat|choose|think|fold)|build the pot|get value"
        f"|(push|press) {_SEAT} [hard|to the limit]"
        f"|(hope|pray|wait) for (a|the) (call|fold)|hoping {_SEAT} (calls|call|folds|fold)"
        f"|put pressure on {_SEAT}|protect {_HELD}|take [down] the pot"
    ),
}

# What a player is after, before the move that does it.
_PRESSURE = (
    f"(keep up|keep on|turn up|increase|add to|raise) the (pressure|heat) [on {_SEAT}]|keep "
    f"{_SEAT} under pressure|put {_SEAT} (to the test|under pressure)|(push|press) {_SEAT} "
    "[hard|to "
    "the limit]|"
    "(bluff|value|aggression|pressure|punishment) time|time for (a|my) (bluff|move)|"
    f"(put|apply|keep) [some|more|real] pressure [on {_SEAT}]|(pressure|attack|punish|squeeze|scare"
    f"|test|probe|charge|tax) ({_SEAT}|it|that|{_WHOSE} bet) [a bit|a chip]"
    f"|make {_SEAT} [pay|sweat|think|decide|fold] "
    "[for it|for this|for that|for (a|the|his|her) card|to (see|stay|continue)]"
    f"|(go|play|bet) for value|get value (from|out of) {_HELD}|build (a|the) [bigger] pot"
    f"|(play|take) (it|this|{_HELD}) (aggressively|aggressive|strong|fast|boldly)|be aggressive"
    f"|take the [betting] (lead|initiative)|get [more|some] (money|chips) in [the pot]|"
    f"try [for] a bluff|bluff {_SEAT}|turn up the heat|go on the (attack|offensive)"
    f"|represent (a {{rep:held}}|{_HELD})|steal (it|the pot)|go big|be bold|come over the top"
    f"|(push|fight|hit) back|go over the top [of {_SEAT}]"
)
_AIMS = {
    "check": (
        "keep the pot (small|as it is|down)|stay (where i am|put|out of it|patient|safe)"
        f"|control the pot|keep my chips|play it (safe|cool|slow)|(slow play|trap|induce|sandbag"
        f"|slowplay) [{_SEAT}|{_HELD}|it|this]|take it (easy|slow)|(go|get|head) [straight|right"
        "|directly] to [the] showdown|[straight|right|directly] to [the] showdown|wait"
        f"|(lay|set) (a|the|my) trap [for {_SEAT}]|(pretend|act|play|look) [to (be|have)] (weak"
        "|scared|afraid|nothing)"
        f"|(give|pass) {_SEAT} (the|a) (action|turn|free card|chance)|hand the (action|turn) to "
        f"{_SEAT}|let {_SEAT} (act|go|bet|decide|act first|move first|lead|make the first move"
        "|take the lead"
        "|bluff)|(take|get|have) (the|a) free (card|showdown)|free (card|showdown)|keep quiet"
        "|see [the] showdown for free|lie low|wait and see"
    ),
    "bet": _PRESSURE,
    "call": (
        f"keep {_SEAT} honest|(slow play|trap|slowplay|sandbag) [{_SEAT}|{_HELD}|it|this]"
        f"|(want|like|love|need) to ({_SEE})|[will] ({_SEE})|take (a|another|the next) card"
        f"|(stay|hang|keep) in [the hand|there]|(take|accept|face) {_WHOSE} (bet|challenge|raise)"
        f"|(catch|call|snap off) {_WHOSE} bluff|look {_SEAT} up|(go|play) along|give it a (shot"
        f"|try|chance)|keep (it|the pot) small|count me in [for]|(see|meet) {_SEAT} at "
        f"[the] showdown|{_CHIPS} to (see|call) [(the|{_WHOSE}|that) [public|next] card|{_SEAT}|it]"
        f"|defend (my|the) (ante|pot|{{held}})|(throw|put|toss) in {_CHIPS}"
        f"|(throw|put|toss) {_CHIPS} in|pay {_CHIPS}|pay the price|be curious"
    ),
    "fold": (
        "(lose|give up|let go of|forfeit|sacrifice|surrender|accept|take|write off|drop|swallow"
        "|eat) [only|just] (my|the|this|that|a) [small] (loss|ante|chip|{lost:n} chip|chips)"
        " [of ((a|1|one) chip|{lost:n} chip|my ante|the ante)] [i (paid|have paid|put in)] "
        "[in the pot]|cut my losses [here]|(save|keep) (my|the) [other|remaining] (chip|chips"
        "|money|stack)|(save|keep) {save:n} chip|(get|step|stay) out [of (the|this|his|her|their) "
        "(hand|pot|way|trouble)]|give up [(the|this|my) (hand|pot)]|(stay|play it) safe"
        f"|(let|leave) {_SEAT} (have|take|win) (it|this|this one|the pot)|wait for (a|the) "
        "(better|next) (hand|card|spot|deal)|be (careful|prudent|sensible|disciplined)"
        f"|respect {_WHOSE} (bet|raise)|believe {_SEAT}|limit (my|the) (loss|losses|damage)"
    ),
    "raise": f"{_PRESSURE}|[now] spring (the|my|a) trap|(the|my) trap is sprung",
}
# What another is told before: "take it, I fold", "I don't believe you, call".
_DOUBT = (
    f"[i] (don't|do not|can't) (believe|buy|trust|fear) ({_SEAT}|it|that|this|(that|this|the|your"
    "|his|her) (bet|story|bluff|raise|act))"
    f"|[i'm|i am|am] not (scared|afraid|impressed|convinced|intimidated|fooled|worried|folding "
    f"[this|{_HELD}]|buying (it|that|this|your story|his story)|going anywhere|giving up)"
    f"|[i] (won't|will not) (fold|be bluffed|be pushed around|give up) [this|here|{_HELD}]"
    f"|[i (think|bet|say|guess|smell|sense|suspect)] ({_SEAT} (is|are)|(you|they) 're|(he|she) 's"
    "|you're|they're|he's|she's) [just|only|surely|clearly|probably|obviously] "
    "(bluffing|weak|full of it|lying|making it up|trying to steal [it|the pot])"
    "|i (smell|sense|suspect|see|scent) (a|the|your|his|her) bluff|nice (try|bluff)|good try"
    f"|[there is|there's] no way {_SEAT} (have|has|hold|holds|got) (it|{_THEIRS}|anything)"
    f"|[i'm|i am] not (folding|giving up|laying down|throwing away) {_THEIRS} [here]"
    f"|{_SEAT} (don't|do not|doesn't|can't|cannot) have (it|{_THEIRS}|anything)|no fold "
    f"[here|from me]"
)
_SAID = {
    "check": (
        "no (bet|betting|chip|raise|wager|action|risk|money|aggression|bluff|bluffing) "
        "[from (me|my side)|for me] [here|now|this time|today|yet|at this point]"
        f"|[(i have|i've got|there is|there's)] nothing [worth] [to] (bet|bet on|bet with|bet for"
        f"|be proud of|value bet|risk) [with {_HELD}|here|now]"
        "|[i] (would rather|i'd rather|prefer to|i'd prefer to) not bet [here|now]|not betting "
        "[here|this]|[i] (won't|will not|don't|do not) (bet|put anything in|risk anything"
        "|put (a|any|more|another) chip in|add (anything|a chip|chips)) [here|now|this time]|why "
        "risk (a|another|more) chip|nothing (from me|to add)|[a|the] free (look|peek|card"
        "|showdown) "
        f"[just] (suits|is fine (for|with|by)|is good for|is welcome (to|for)|is all right with"
        f"|works for) (me|{_HELD})"
    ),
    "bet": f"no (check|checking|free card|free cards|free showdown) [from me|here|for {_SEAT}]",
    "call": _DOUBT,
    "fold": (
        "no (call|calling|chip|chips|more chips|more chip|more money) [from (me|my side)|for me] "
        "[here|this time|now|today]|not (this time|today|worth it|my day|my hand|with this)"
        f"|(you|{_SEAT}) (can|may) (have|take|keep) (it|this|this one|that|the pot)"
        "|(take|have|keep) (it|the pot|this one)|(it's|it is|the pot is|that's) (yours|all yours"
        "|his|hers)|you win [this (one|hand|pot|time|round)|the (pot|hand)]|[i] (believe"
        "|respect) (you|it|that|him|her)|you (have|got|have got) me|well played|nice (bet|hand)|too"
        " (rich|expensive|dear|steep|much|risky|hot) for (me|my blood|my taste|{held})"
        "|[i'm|i am|am] not (paying|calling|risking|putting in|throwing away) (for that|for this"
        "|that|this|it|more|that much|another chip|any more|a chip|{risk:n} [more] chip|chips)"
        "|[i] (won't|will not|can't|cannot|don't want to|do not want to) "
        "(pay|call|risk|afford) [for] "
        "[that|this|it|more|another chip|any more|a chip|{risk:n} [more] chip] "
        "[with (this|that|it|my (hand|card))|here]"
        "|(i'd|i would) rather "
        "lose {lost:n} [chip] than {risk:n} [chip]|better (lose|to lose) {lost:n} [chip] than "
        "{risk:n} [chip]"
    ),
    "raise": _DOUBT,
}
# What is held: "king high, easy call"; "with only a jack, fold".
_HOLDS = (
    "[only|just|nothing but] [a|an|my|the|this|that] "
    "[bare|lone|mere|lowly|mighty|weak|strong|decent|mediocre|middling|big"
    "|poor|lousy|bad|good|nice|measly] ({held:rank} [high] [in hand|in my hand|here]"
    "|pair of {held:rank}|{held:rank} of (heart|spade|diamond|club))"
)
_OPTION = "(option|choice|number|action|move|alternative|possibility)"


# Chips that are put in with a purpose: a bet, or all that a raise costs.
_PAYS = (
    f"((put|throw|toss|push|slide|shove|drop|move) [in|out] {_CHIPS} [in|out|forward] "
    "[in|into|to] [the|this|that] [pot|middle|center|centre]|in (go|goes) {n} [more] chip"
    "|{n} [more] chip (go|goes) in [in|into|to] [the] [pot|middle|center|centre])"
)
_REP = (
    "[i'm|i am|to] (represent (a|the|my) ({rep:held}|public card|board card|pair)|bluff|semi bluff"
    "|bet for value|slow play)"
)
_BARREL = "(a|the|my|another) [second|next|third] barrel"


def phrases() -> dict[str, list[str]]:
    """The moves with what stands beside them, as patterns of a `Grammar`."""
    found = {move: _of(move, named) for move, named in _NAMED.items()}
    found["all chips"] = [
        f"(the|my|a|one|1) [single] chip (go|goes) in [.] {_REP}",
        f"{_PAYS} [and|to|.] [i|i'll] ({_AFTER['bet']}|{_AFTER['raise']})",
        f"{_PAYS} [.] {_REP}",
        f"{_PAYS} [.] [to] raise [(him|her|them|{{other}}|{_WHOSE} [bet] [of] {{due:n}} [chip]"
        f"|{_WHOSE} (bet|wager|raise) [of {{due:n}} [chip]])]",
        f"{_PAYS} [.] {{due:n}} to call [.] [and] [{{by:n}} [more]] (more|to raise|on top)",
        f"{_PAYS} [.] {{by:n}} of (them|it|these) [as|for] (a|the) raise",
    ]
    found["bet"] += [
        f"({_PRESSURE}) (with|for) {_CHIPS}",
        f"[fire|send|launch|shoot] [off|out] {_BARREL} [(of|with|for|.) {_CHIPS}] "
        f"[in|into] [the] [pot|middle] [.] [{_REP}]",
        "(the|my|this|that) [second round|first round|opening] (bet|wager) [of {n} [chip]] "
        f"(goes|go) (in|out) [.] [{_REP}]",
    ]
    found["raise"] += [
        "[go|move|come] up [by] (another|a further|{n} more) [{n}] [chip]",
        f"(pop|bump|kick|push|crank|jack|move|take) (it|{_SEAT}|the (bet|price|stakes|pot)) "
        "([up] [by] [another|a further] {n} [more] [chip] (higher|up|on top|more)"
        "|up [by] (another|a further) {n} [more] [chip]|up [by] {n} [more] [chip]"
        "|[by] another {n} [chip])",
        "check [-] raise [it|him|her|them|{other}] [[by] {n} [chip]|to {to:n} [chip]]",
        "make it (another|a further) {n} [chip] [to go]",
        "make it {n} (more [chip]|[chip] (more|extra|on top|higher)) [to go]",
        f"(come|go) over the top [of {_SEAT}] (with|for|by) [another] {{n}} [more] [chip]",
    ]
    found["call"] += [
        "(stick|stay|hang) around [for [the|another] {n} [more] [chip]]",
        "[[the|my] [pot] odds are (good|great|fine|right|excellent) [.]] {due:n} [chip] to win "
        f"{{pot:n}} [chip] [.] [and|so] [that's|that is|i|i'll] ({_NAMED['call']}|call it is)",
    ]
    first = f"(let|have) {_SEAT} (act|speak|bet|move|go|lead|start|open|talk|decide) first"
    leaves = f"(leave|give) the (bet|betting|action|lead|next bet) to {_SEAT}"
    found["check"] += [
        f"[keep the pot (small|as it is|down) [and|.]] {first}",
        f"[(take|have|get) (a|the|my) free (look|peek) [and|.]] {leaves}",
        f"(take|have|get) (a|the|my) free (look|peek) [and|.] [{first}]",
        f"{leaves} [and|.] [i|i'll] {_NAMED['check']}",
        f"(pass|move) (it|the (action|turn)) (along|on|over) [to {_SEAT}] with a check",
    ]
    return found


def _of(move: str, named: str) -> list[str]:
    did = _DID[move]
    after = f"[and|.|to|then|,] [i|i'll|i will|i can|we|we'll] ({_AFTER[move]}"
    after += ")" if move in ("fold", "raise") else f"|{_SEE})"
    fits = f"(a|an|another|the) {_NAMED[move]}"
    return [
        f"[and|so] (this|that|it|the (spot|situation|price|public card|board)|{_HELD}) [just] "
        f"(calls for|asks for|demands|deserves|is good enough for|is worth) {fits}",
        f"[want to|try to|like to|time to] ({_AIMS[move]}) {_BY} {named} [with {_HELD}]",
        f"[{{other}}] [.] ({_SAID[move]}) [{{other}}] [.] [and|so|but|,] [i|i'll|i "
        f"will|i'm|i just|i have to|i must] {named} "
        "[instead|then]",
        f"{named} [[with] {_HELD}] {after}",
        f"{named} (with|on) {_HELD}",
        f"(make|put in|go with|take|play|try) [a|the|my] {named} with {_HELD}",
        # Which of the options it is.
        f"[pick|take|choose|select|go for|go with] [(my|the) (pick|choice) is] "
        f"({_OPTION} {{at:n}}|[the|my] {{at:place}} {_OPTION}|[the] {{at:place}} [one|1]|[the] "
        f"(free|safe|cheap) {_OPTION}) [.] [i|i'll|to] {named}",
        # With what.
        f"[having|holding|i have|i've got|i hold|i'm holding|got|i got] {_HOLDS} [.] "
        f"[and|so|then|that's] [i|i'll|i will|i'm|i just|i have to|i must] {named}",
        # "With a king, bet" is a rule.
        f"(with|on) {_HOLDS} [.] (i|i'll|i will|i'm|i just|i have to|i must) {named}",
        f"bluff (with|by|and) [a|my] {named}",
        # As another did.
        f"{_SEAT} {did} [too] [.] [and] (so (do|will|shall|am) i|i (do|will do) (the same|it too"
        "|likewise|so too|so as well)|i follow [suit]|me too|likewise|same here) "
        f"[.] [and|i|i'll] [{named}]",
        f"(me too|same here|likewise|ditto|i do the same|i follow suit|same [for me]) [.] [i] "
        f"{named}",
        f"(same as|like|just like|copy|follow|mirror) {_SEAT} [did] [.] [and|i] {named}",
        f"{named} (like|just like|same as|as) {_SEAT} [did|does]",
    ]
