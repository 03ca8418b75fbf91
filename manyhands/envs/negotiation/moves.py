"""The sentences that name a move without amounts: answers to an offer, passing, leaving, claims.

Offers are worded by their forms (`Scenario.offer_phrases`).
"""

from __future__ import annotations

import functools
from typing import Any

from manyhands.core.reading.grammar import Grammar
from manyhands.core.reading.words import names
from manyhands.envs.negotiation.claims import CLAIMS, LIMITS, SLOTS
from manyhands.envs.negotiation.forms import Scenario
from manyhands.envs.negotiation.state import ACCEPT, CLAIM, PASS, READY, REJECT, WALK

_WHAT = (
    "(offer|deal|proposal|proposition|price|bid|split|trade|exchange|swap|terms"
    "|counteroffer|division|plan)"
)
_OFFER = (
    "(it|this|that|this one|that one|what [is|lies] on [the] table"
    "|what ({maker:other}|they|he|she|you|the (buyer|seller)) [have|has] (put forward|propose"
    "|proposes"
    "|proposed|offer|offers|offered|suggest|suggests|suggested|ask for|asks for)"
    f"|[your|this|that|the|their|his|her|{{maker:player}} s] "
    f"[current|standing|last|latest|new|proposed|generous|fair|unfair|unequal|lopsided|greedy|lousy"
    f"|stingy|low|high] {_WHAT} [(of|from|by) "
    "{maker:player}])"
)
_FAIR = (
    (
        "[yes|yeah|yep] [.] [(that|this|it|{offer}) works [for me] [.] [and|so|.] [i|i'll|i will]"
        "|(fine|okay|good|alright) (by|with) me [.] [and|so|.] [i|i'll|i will]] "
        "[[that|this|it|that's|it's|{offer}] [is|seems|looks|sounds] "
        "(fair|good|great|fine|reasonable|acceptable|ok|okay) [{what}] [enough|to me|for me|by me] "
        "[.] [and|so|.] [i|i'll|i will]] [[i'm|i am|am] (happy|glad|pleased|willing) to]"
    )
    .replace("{offer}", f"[your|this|that|the] {_WHAT}")
    .replace("{what}", _WHAT)
)
_NO = (
    "[no|no thanks|no thank you|sorry|i'm sorry|i am sorry] [.] [but] [.] [i|i'm|i am|i'll|i will] "
    "[must|have to] [respectfully|politely]"
)
_UNFAIR = (
    "[. ] [because|since|as] (that|this|it|that's|it's|it is|that is|your offer|the offer) "
    "[is] [just|simply|very|really|much|far|way] (unfair|not fair|unacceptable|not acceptable"
    "|not [good] enough|too (low|little|high|much|expensive)) [for me]"
)
_TOO = (
    "[just|simply|still|way|far|much|very|really|a bit|a little] ((not|not nearly) [good] enough"
    "|too (low|little|high|much|expensive|steep|cheap|dear))"
)
_IS = "that is|that's|it is|it's|this is|what"
_BAD = "(bad|terrible|poor|awful|lousy|unfair|horrible) (deal|trade|offer|price|split|swap)"
_GAME = (
    "(table|game|negotiation|negotiations|talk|talks|deal|trade|bargaining|room|market|haggling"
    "|discussion|process|shop|store|stall|bazaar|office|building|meeting)"
)
_TABLE = f"[(the|this|these|my|our)] {_GAME}"
_UNSOLD = "[without (a|any|the) deal]"
_OWN = (
    "((all|what|everything|all that) (i own|i have|is mine|i've got)|[all] [of] my (goods|stuff"
    "|wares|things|items|holdings|belongings|resources|property|possessions|money|own))"
)
_BYE = (
    "[.] [and|while|so] [.] [(there's|there is)] [no deal [for me|today|here|then]] [no (deal"
    "|bargain|trade|profit) to be (had|made|struck|found) [here|today]] [game over [for me]] [.] "
    f"[[i] (keep|take|hold on to|hang on to) {_OWN} [with me]|with {_OWN}] "
    "[[i] (accept|get|take|settle for|score) [that i (get|score)] ({n}|nothing|zero) [point|coin]] "
    "[(bye|goodbye|farewell|good luck|sorry)]"
)
# Why somebody leaves.
_HOPELESS = (
    "[just|simply|really|clearly|so] (pointless|hopeless|useless|senseless|futile|boring|ridiculous"
    "|a (waste of [my] time|dead end|farce|joke)|(going|leading|getting) nowhere|not worth it"
    "|not worth my time|no use)"
)
_POINTLESS = (
    "[([with (a|my) (cost|value|limit) of {n}] [honestly|frankly|sorry] [.] (no thanks|enough"
    "|[(there's|there is)] nothing [more] [left] (in (it|this) for me|to (gain|win|get|earn) here"
    f"|for me here)|([the|this|these] {_GAME}|this|it|that) (is|are|'s|has become|seems|seem|looks"
    f"|look) {_HOPELESS}|(it's|that's) {_HOPELESS} [to (go on|continue|talk|negotiate)]"
    f"|([the|this|these] {_GAME}|this|it) (leads|lead|goes|go|gets|get) nowhere"
    "|(i'm|i am) not (interested|buying|selling|trading|dealing|playing) [today|here|anymore]"
    "|not interested|(i've|i have) had enough [of (this|it|you|them|the talk)]"
    "|(forget|screw|damn|to hell with|so much for) (it|this|that|{other})|enough is enough"
    "|[(i've|i have) (had|done)] enough (haggling|bargaining|trading|negotiating|talk|talking|of "
    "(this|it|that)) [for (me|today)]"
    "|(that's|that is) enough|that does it|no deal (today|for me today)"
    "|(i'm|i am) (done|tired|sick|through|finished) [of|with] [it|this|the talk|negotiating"
    f"|bargaining|haggling|talking|{_GAME}]|(i'd|i would) rather keep {_OWN}) [for me] [.] "
    "[and|so|therefore])]"
)
_THIS_TURN = "(this|it|[the|this|my] (turn|one|1|round))"
# What somebody waits for: "I'd like to hear the other side first".
_THEM = (
    "({other}|them|him|her|you|{player}|[the|my] (other [side|party|player|one]|others|seller"
    "|buyer|opponent|partner))"
)
_HEAR_FIRST = (
    f"((i'd|i would|i want|i prefer|i'd prefer|let's|let me) [rather|like] [to] "
    f"((hear|see|watch|know|wait for|listen to) [what] {_THEM} [first] "
    "[(say|says|want|wants|offer|offers|propose|proposes|do|does|has to say|have to say|think"
    "|thinks|move|speak)] [first]|(have|let) "
    f"{_THEM} [first] (speak|say something|name|make|open|go|offer|propose|move|start|begin|talk"
    "|bid) [(a|the|its|their|an) [first|opening] (offer|price|move|step|bid|proposal|number)] "
    "[first]))"
)
_TALKED = (
    "[(enough|no more|that's enough|that is enough|we've had enough|enough of [the|this]) (talk"
    "|talking|words|chat|discussion)|(we've|we have) [talked|said|discussed] enough [talked]|time "
    "to (decide|choose|pick)|(we've|we have) (talked enough|said it all)] [.] [so|and] [.]"
)
# Beside a pass: what somebody waits for, who did the same, and why.
_ASKS = (
    "[(raise|raises|go higher|goes higher|go up|goes up|come down|comes down|improve|improves"
    "|bid more|bids more|give in|gives in|say|says|want|wants|offer|offers|propose|proposes|do"
    "|does|think|thinks|need|needs|come up "
    "with|comes up with|ask for|asks for|will (do|say|offer|propose|ask [for])|has to (say|offer)"
    "|have to (say|offer)|is after|are after|is (offering|asking|willing to give)|moves|reacts)]"
)
_WATCH = (
    f"((see|hear|watch|know|learn|find out|wait for|listen to|wait and see) "
    f"[what|how|whether|if] {_THEM} "
    f"[first] {_ASKS} [first|next]|(let|have|make) {_THEM} [first] (speak|talk|say something|move"
    "|go|start|begin|open|offer|bid|act|show (his|her|their|its) hand|name (a|the|its|his|their) "
    "price|make (a|an|the|its|their|his) [first|opening] (offer|price|move|bid|step|proposal)) "
    "[first]|(see|hear|wait for|get) (an|the|their|his|its|a) [first|better] (offer|price|bid"
    f"|proposal|move) [(from|of) {_THEM}] [first]|watch|listen|wait|wait and see)"
)
_PASS = (
    "([i|i'll|i will|i'm|just|simply]* (pass|skip|wait) [(this|my|the|for this|for the|on this|for)"
    " (turn|round|move|month|time|one|now)]"
    f"|let {_THIS_TURN} (go by|pass|slide|go)|sit {_THIS_TURN} out|sit out {_THIS_TURN}|hold back"
    "|let (it|things|this) (wait|rest) [for] [(a|1|one|this) (turn|round|bit|while|moment)])"
).replace("[i|i'll|i will|i'm|just|simply]*", "[i|i'll|i will|i'm] [just|simply]")
_NOTHING = (
    "nothing [on the table|here|so far|there] (appeals to|interests|tempts|suits|is for) me"
    "|nothing for me [here]|no (offer|proposal|move|bid) [needed|necessary|from me|for me|to make] "
    "[yet|now|here|this time|for now]|[i] offer nothing|[i have] nothing to offer"
)
_TALK = "(discussion|talk|chat|debate|conversation|round [of talk])"
_WORDLESS = (
    "no (claim|pledge|word|comment|promise|message|remark) [needed|necessary|from me|for me|to make"
    f"|from my side] [yet|now|here|this (time|round)|for now|in (this|the) {_TALK}]|[i] "
    "(say|claim|pledge|state) nothing|[i have] nothing to (say|add|claim|pledge) [from my side]"
)
_PHRASES: dict[int, tuple[str, ...]] = {
    ACCEPT: (
        "aye",
        "[(i'm|i am)] in (favour|favor)",
        "(i'm|i am) for it",
        "(yes please|thumbs up [from me])",
        "(with pleasure|gladly accepted|take my money|shut up and take my money)",
        "(let's|let us) (do|make) (it|this|that|the|this trade|the trade|this deal|the deal"
        "|this swap|this exchange)",
        "[i] vote to (accept|approve) [it|this|that]",
        "[yes] [that|this|it] (sounds|looks) (good|great|fine) (to|for) me [.] [yes|deal|i accept]",
        "[yes] [that|this|it] (sounds|looks) (good|great|fine) [.] (let's|let us) "
        "(trade|swap|do it|do this|deal)",
        f"{_FAIR} [yes|deal|agreed] [.] [i] accept [{_OFFER}] [gladly|happily|as it is|as is]",
        f"{_FAIR} [i] (gladly|happily) accept [{_OFFER}]",
        f"{_FAIR} [i] (agree|agree to|agree with|approve|approve of|take|back|endorse|welcome"
        f"|support|go along with|go with|on board with|am on board with|consent to|assent to|sign"
        f"|settle for|say (yes|aye) to|give (my|a) (yes|approval|consent|blessing|nod) to) "
        f"{_OFFER}",
        f"[i] take (you|them|him|her|{{player}}) up on {_OFFER}",
        "[i] (take|accept) (them|those|these) [gladly|happily]",
        "[(i|we) can|i could] live with (it|this|that)",
        f"[that's|that is|it's|it is|this is|{_OFFER} is] (fine|okay|ok|good|alright|cool) "
        "(by|with|for) me",
        f"[i] (nod|say) (yes|ok|okay) [to {_OFFER}]",
        f"{_OFFER} is (fine|okay|ok|alright)",
        "sure [.] why not",
        f"(it is|it's|that's|that is|this is) [a] (yes|aye|deal) (from me|from my side|to "
        f"{_OFFER})",
        "[i] (say|answer|reply) (yes|aye|deal|agreed)",
        "you (have|have got|'ve got) [yourself|my] [a|my] (deal|agreement|word|yes|hand on it)",
        "(consider it|call it) (a deal|done|agreed|settled)",
        f"my (vote|answer|reply|verdict) (is|goes) [a] (yes|aye|in favour|in favor|for it|for "
        f"{_OFFER}"
        f"|in favour of {_OFFER}|in favor of {_OFFER}|positive)",
        f"[i] (vote|am|come out|speak) in (favour|favor) [of {_OFFER}]",
        f"[i] (wave|vote) {_OFFER} through",
        f"{_OFFER} (has|gets|finds) my (vote|approval|support|agreement|consent|blessing)",
        f"{_OFFER} is (accepted|approved|agreed|fine by me|fine with me|okay by me|okay with me)",
        "{maker:player} (has|have|gets|earns|wins|can count on) my (vote|support|approval|yes|aye)",
        "my (vote|support|yes|aye) goes to {maker:player}",
        "(sold|shake on it|i shake on it|let's shake on it|let us shake on it|done and done)",
        "[yes|yeah|yep] [.] [okay|ok] [.] (count me in|i'm in|i am in)",
        "[yes|yeah|yep] [.] [okay|ok] [.] fine [then]",
        "[yes|yeah|yep|okay|ok] [.] [that|this|it] (sounds|looks) (good|great|fine|fair|perfect) "
        "[(to|for) me]",
        f"{_FAIR} [i] (agree|approve|agreed)",
        f"{_FAIR} [.] (deal|agreed|accepted|it's a deal|it is a deal)",
        f"[i] support {_OFFER}",
        f"(i'm|i am) (for|in favor of|in favour of) {_OFFER}",
        "[a|it's a|it is a] yes from me",
        f"agreed to {_OFFER}",
        "[yes|yeah|yep|okay|ok] [.] [that's|it's|that is|it is|this is|you have|you've|you've got"
        "|you got|we have|we've got] [yourself] [a|got a] deal",
        "(yes|yeah|yep) [.] [it's a|that's a|you have a] [deal|agreed]",
        "agreed [deal]",
        "done deal",
        "[that|this|it|it's|that's] [is] [a] (good|fair|fine|great) deal [for me] [.] [i] "
        "(accept|agree)",
        "[okay|ok|fine|alright|yes] [.] (deal|done|sold) [.] [shake on it|handshake|let's shake "
        "[on it|hands]]",
        "(yes|yeah|yep) [.] [i] (accept|agree|take it|will take it)",
        f"{_WHAT} accepted",
        f"[i] vote (for|in favour of|in favor of) {_OFFER}",
        "[i] vote (yes|for|for it|in favour|in favor|aye) [(for|on) {offer}]".replace(
            "{offer}", _OFFER
        ),
        "[that|this|it] (works for me|suits me)",
        f"(let's|let us) (accept|take) {_OFFER}",
        f"[i'm|i am] (happy|fine|okay|ok|good|content) with {_OFFER}",
        "[yes|okay|ok|fine|good|alright] [.] (let's|let us) do (it|that|this)",
    ),
    REJECT: (
        "nay",
        "thumbs down [from me]",
        "[i] vote to (reject|decline) [it|this|that]",
        f"[no|nope|sorry] [.] [[that|this|it|the price|your price|{_OFFER}] is|that's|it's] {_TOO} "
        "[for me] [.] [so] [no|no thanks|no deal|i vote no|[i] (reject|decline|refuse) "
        f"[{_OFFER}]]",
        f"(no|no thanks|no way) [.] [{_IS}] a {_BAD} [for me]",
        f"[{_IS}] (a {_BAD}|unfair|not fair|unacceptable) [for me|to me] [.] [so] (no|no thanks"
        f"|no deal|[i] vote no|[i] (reject|decline|refuse) [{_OFFER}])",
        "[no|sorry] [.] [i] (can't|cannot|won't|will not) (pay|give|afford) that [much]",
        "[no|sorry] [.] (that's|that is|it's|it is) (above|over|beyond) my (budget|limit)",
        f"{_NO} (reject|decline|refuse|deny) [{_OFFER}] "
        f"[{_UNFAIR}]",
        f"{_NO} (turn|vote|strike|shoot|wave) {_OFFER} (down|away|off) [{_UNFAIR}]",
        f"{_NO} (throw|cast|give) {_OFFER} (out|back) [{_UNFAIR}]",
        f"{_NO} (vote down|veto|oppose|dismiss|rebuff|spurn|pass on|pass up|say no to) {_OFFER} "
        f"[{_UNFAIR}]",
        f"[no|nope|sorry] [.] {_OFFER} is (rejected|declined|refused|unacceptable [to me]"
        "|turned down|out)",
        "(no|nope|sorry) [.] (rejected|declined|refused)",
        "my (vote|answer|reply|verdict) (is|goes) [a] (no|nay|against it|against)",
        f"my (vote|answer) (is|goes) (against|to reject|no to) [{_OFFER}]",
        "[i] (say|answer|reply) (no|nay)",
        f"(it is|it's|that's|that is|this is) [a] (no|nay) (from me|from my side|to {_OFFER})",
        f"{_NO} turn down {_OFFER} [{_UNFAIR}]",
        "[sorry|i'm sorry] [.] [but] (no|nope) [thanks|thank you|deal|way]",
        f"(no|nope) [.] {_UNFAIR}",
        "[i] vote (no|against|against it|nay) [(for|on) {offer}]".replace("{offer}", _OFFER),
        "[i] vote against {offer}".replace("{offer}", _OFFER),
        f"[i'm|i am] against [{_OFFER}]",
        "[a|it's a|it is a] no from me",
        "(not a chance|no chance|absolutely not|certainly not)",
        "[no|nope] [.] [thanks] [but] [you] [can] (keep|hang on to|hold on to) your (good|stuff"
        "|things|{good}|offer|money|coin)",
        "(forget (it|that|about it)|in your dreams|dream on|keep dreaming|no dice|nothing doing)",
        "not (at|for) that [price]",
        "(rejected|declined|refused)",
        "(that|it|this) (doesn't|does not|won't|will not) work [for me]",
        "[that's|it's|that is|it is] [much|far|way] too (expensive|much|little|low|high) [for me] "
        "[.] no [thanks|thank you|deal]",
        f"[i] disagree [with {_OFFER}]",
        f"{_NO} (can't|cannot|can not|won't|will not|do not|don't|shall not|refuse to|must not"
        f"|am not going to|'m not going to|am not willing to|'m not willing to|am unable to) "
        f"(accept|take|agree to|agree with|approve|go for|go along with|consent to|vote for) "
        f"[{_OFFER}]",
        f"{_NO} (not|am not) (accept|take|agree|agree to|agree with|go for) [{_OFFER}]",
        f"[no|sorry] [.] [i'm|i am] not interested [in {_OFFER}]",
        "[no|sorry] [.] (that's|that is|it's|it is|this is) (not enough|unfair|not fair"
        "|unacceptable) [for me|to me] [.] [so] [i] (reject|decline|refuse) [it|this|that]",
    ),
    WALK: (
        *(
            f"{_POINTLESS} [i|i'm|i am|i'll|i will] [(get|stand|pack) up and] ({leave}) {_BYE}"
            for leave in (
                f"[no deal .] (walk|walk away|walk out|step away|head) [(from|out of) {_TABLE}"
                f"|from (this|it)|out|off|away|home] {_UNSOLD}",
                f"[no deal .] (leave|quit|exit|depart|withdraw from) [{_TABLE}] [here|now] "
                f"{_UNSOLD}",
                "(i'm|i am) (out|gone|off) [of here|here]", "(i'm|i am) done here",
                f"(break off|call off|abandon) {_TABLE} [here|now] {_UNSOLD}",
                f"(end|stop|terminate) {_TABLE} [here|now] without (a|any|the) deal",
                f"(drop|back|pull|opt|bow|get) out [of {_TABLE}] {_UNSOLD}",
                "(prefer|choose|opt for|take) no deal [over (this|that)|here]",
                f"(take|pack|pack up|gather|grab|keep|collect) {_OWN} and (leave|go|go home|quit"
                f"|head home|(walk|go) (away|out|off)|leave {_TABLE})",
                "(go|head) home",
            )
        ),
        "give up", "(bye|goodbye|farewell)", "break it off", "call it off",
        "(there is|there's|i see) nothing [more|else] [left] (in (it|this)|here) for me [.] [and"
        "|so] "
        "(bye|goodbye|farewell|[i|i'm|i am|i'll] (leave|go|out|gone|off|walk away|quit))",
        "end without (a|any) deal",
    ),
    READY: (
        f"[fine (by|with) me] {_TALKED} "
        "[i|i'm|i am|we're|we are|i declare (myself|me)] (ready|done|finished) [talking|with the "
        "talk|with talking|negotiating|to (choose|decide|pick|end the talk|end this|stop talking)] "
        "[now] [.] [(let's|let us|time to) (decide|choose|pick|end this)]",
        f"{_TALKED} (let's|let us|time to|we can|we should) [stop talking and] "
        f"(choose|decide|pick)",
        f"{_TALKED} [i|let's] (end|finish|stop|close|conclude|wrap up) [with] [the|this] (talk"
        "|talking|discussion|chat|conversation) [here|now] [and (choose|decide|pick)]",
        "finish",
        f"[{_OFFER} (sounds|looks|is) (good|fine|great|fair|perfect) [to me|for me]|sounds good"
        "|[i] (agree|agreed) [(to|with) {offer}]] [.] [so] (let's|let us|we can|i) "
        "((finalize|finalise|close|seal|conclude|settle|lock in) [the|this] deal|end (it|this|here)"
        "|wrap (it|this) up|lock it in)".replace("{offer}", _OFFER),
    ),
    PASS: (
        "[i|i'll] (pass|skip|wait) [(this|my|the|for this|for the|on this) "
        "(turn|round|move|month|time|one)]",
        "[i] [do|propose] nothing [this (turn|round|month|time)]",
        f"{_PASS} [for now|now] [.] [and] [i] [to|i want to|want to|i'd like to|i would "
        f"like to|i'll|let me"
        f"|so that i can|because i want to] {_WATCH}",
        f"({_NOTHING}) [.] [and|so|therefore] {_PASS}",
        f"{_THEM} (passed|pass|passes) [too] [.] [and|so] (so (do|will|shall) i|(i|i'll) "
        f"(do|will do|'ll "
        "do) (the same|so too|likewise)|i follow [suit]|me too|same here) [.] "
        f"[and {_PASS} [too|as well]]",
        f"[i|i'll] do (as|like|the same as) {_THEM} [did|does] [.] [and] {_PASS}",
        f"[(like|same as|as) {_THEM} [did] [.]] {_PASS} [too|as well]",
        f"(wait|hold back) [(for|until)] {_WATCH}",
        f"wait for {_THEM} [to (speak|talk|move|act|start|begin|offer|name a price|make (a|an|the) "
        "[first] (offer|move|bid|price))]",
        f"wait for (their|his|her|its|your|{_THEM} 's) [first|next] "
        f"(offer|move|price|bid|proposal)",
        f"hold (back|my (cards|fire|tongue)) [and|.] {_WATCH}",
        "[i] [make|have] no (offer|proposal) [for now|now|yet|this (turn|round|time)]",
        "[i] abstain",
        "(no op|noop|no move)",
        "[i] (state|claim|declare|take) (no part [of it|for me]|nothing at all)",
        "[i] state nothing", "no part for me",
        *(
            f"[{_HEAR_FIRST} [.] [and] (so|therefore)|no thanks|nothing for me] "
            f"[i|i'll|i will|i'm] {words}"
            for words in (
                "(pass|skip|wait) [(this|my|the|for this|for the|on this) "
                "(turn|round|move|month|time|one)]",
                f"let {_THIS_TURN} (go by|pass|slide|go)",
                f"sit {_THIS_TURN} out", f"sit out {_THIS_TURN}", "hold back",
                "(give|hand) the (turn|word|floor) to ({other}|them|him|her)",
            )
        ),
    ),
}  # fmt: skip
# No words are a pass where words, or an answer, are due; where an amount is, they name none.
_SILENT: tuple[str, ...] = (
    f"({_WORDLESS}) [.] [and|so|therefore] [{_PASS}]",
    f"{_PASS} (while|and|.) [i] ({_WORDLESS})",
    f"nothing from (me|my side) [(in|for) (this|the) {_TALK}]",
    "silence [from me] [is (best|golden|fine|wise|safest|enough)] [here|now|for now|for me]",
    f"let (this|the) {_TALK} (go by|pass|go)",
    f"sit (this|the) {_TALK} out",
    f"[i] (stay|keep|remain) (silent|quiet) [(in|during) (this|the) {_TALK}|this round|for now]",
    "[i] say nothing [this (turn|round|month|time)]",
    "[i] [hold back and] (stay|keep|remain) (silent|quiet) [and (wait|listen|watch)]",
    "[i have] nothing to (say|add)",
    "[i] hold back and (say nothing|wait|listen|watch)",
    f"[({_NOTHING}|{_WORDLESS}) [.] [and|so]] (skip|sit out|abstain from|pass on|stay out of"
    "|keep out of) "
    "[(this|my|the)] (discussion|talk|chat|debate|conversation|speech|turn to (speak|talk)|round "
    "of talk)",
    f"[i|i'll] let {_THEM} [all] (talk|speak|discuss|do the talking)",
    "[i|i'd|i would] [rather|prefer to] (won't|will not|'ll not|do not|don't|not|not to) ((say|add"
    "|pledge|promise|claim) (anything|a word|a thing)|speak|comment|talk) [at all] "
    "[now|here|yet|this (month|turn|time|round)]",
    "[i] (make|give|offer|have) no (pledge|promise|claim|statement|comment|commitment) "
    "[now|here|yet|this (month|turn|time|round)]",
    f"[i] (say nothing|stay (silent|quiet)|keep (silent|quiet)|listen) [in this discussion|now"
    f"|here|this time|this month] [.] and ({_PASS}|(listen|watch|wait|say nothing))",
    "[i] (stay|keep|remain) (silent|quiet) [in (this|the) (discussion|talk|round)|now|here|this "
    "(month|turn|time|round)]",
    "nothing to (say|add) [from me|for me] [now|here|this (month|turn|time|round)]",
    "i listen (for now|this time)",
    "no comment",
    "silence",
    f"[let {_THEM} (chat|talk|speak) .] [i] (hold|bite) my tongue",
    "(keep|hold) my (mouth shut|peace|counsel)",
    "stay silent [.] my (proposal|offer|claim|turn) (comes|follows) (later|afterwards|next)",
)


@functools.lru_cache(maxsize=128)
def moves(data: Scenario, agent: int, silent: bool) -> Grammar:
    """Of answers to an offer, moves without amounts, and claims; `silent`: no words are a pass."""
    phrases: list[tuple[Any, Any]] = [
        (kind, patterns) for kind, patterns in _PHRASES.items() if kind != READY or data.sizes[kind]
    ]
    phrases += [(PASS, _SILENT)] if silent else []
    for named in data.terms_named:
        phrases += [
            (
                ACCEPT,
                [
                    f"{_FAIR} [i] (accept|agree) {named}",
                    f"{named} works [for me]",
                    f"{named} (is|are|sounds|looks|seems) [a] (good|fair|fine|great|decent|nice) "
                    "[enough] [business|trade|deal|exchange|swap|bargain|price|offer] "
                    "[for me|to me|by me|with me] [.] [and|so] [i|i'll|i will] "
                    "([it's|that's|it is|that is] [a] deal|accept [it|this]|agree [to it]|agreed"
                    "|sold|take it)",
                    f"{_FAIR} [i] (take|accept|buy|have) it {named}",
                    f"{_FAIR} [i] (take|accept) (your|his|her|their|the (buyer's|seller's)"
                    f"|my (partner's|opponent's)|{{maker:player}} s) {named}",
                    "[that's|it's|that is|it is|you have|you've got|we have|we've got] "
                    f"[yourself] [a] deal {named}",
                    f"[yes|okay|ok|fine|good|alright] [.] (agreed|accepted|deal) [.] {named}",
                    "[yes|okay|ok|fine|good|alright] [.] [that|this|it] (sounds|seems|looks) (fair"
                    f"|good|fine|great|reasonable) [(to|for) me] [.] {named}",
                ],
            ),
            (
                REJECT,
                [
                    f"{_NO} (reject|decline|refuse) [your|his|her|their] {named}",
                    f"no deal {named}",
                ],
            ),
        ]
    if not data.sizes[READY]:
        phrases.append((WALK, ["[i] (end|stop) (the|this|these) (negotiation|talk|game)"]))
    about = "price" if len(data.goods) == 1 and data.about == "value" else data.about
    phrases.append((CLAIM, CLAIMS[about]))
    phrases += [(CLAIM, LIMITS.get(about, ()))] if silent else []
    slots = data.slots(agent) | {"good": names(data.goods)} | SLOTS
    return Grammar(phrases, slots, keep=("yes", "yeah", "yep"))
