"""Patterns that the grammars of all games share: courtesy around an action, and waiting.

They are written as `grammar.py` tells. `HEAD` is what may lead to an action and `TAIL` what
may follow it, each any number of times; neither says anything of it that a reader has to know.
"""

from __future__ import annotations

# ---- courtesy ------------------------------------------------------------------------------------

# Words without meaning at any place of a sentence.
SKIPPED = frozenset(
    str.split(
        "the a an please pls plz kindly now just then simply quickly quietly carefully gladly "
        "happily swiftly calmly promptly duly hereby humbly cheerfully boldly instantly"
    )
)
_NOUN = "(move|action|choice|answer|decision|play)"
_AIM = "(step|plan|intention|aim|pick|task|job|selection|preference|strategy|approach)"
_WHO = (
    "(chef|captain|skipper|coach|boss|sir|madam|folks|guys|lads|mate|pal|buddy|gentlemen|ladies"
    "|everybody|comrade|my (dear|friend))"
)
_POLITE = (
    "(if i may|if i might|if you please|if you will|with pleasure|by all means|with your leave)"
)
# What is chosen for being best, before and behind the action.
BEST = (
    "(the|my) (most (sensible|natural|useful|obvious|logical|promising|efficient|effective"
    "|productive|reasonable|strategic|profitable|appropriate|beneficial|valuable|prudent)"
    "|best|safest|smartest|wisest|optimal|rational|right|correct|logical|natural|sensible|obvious"
    "|only sensible|appropriate|recommended|strongest|proper|ideal|preferred) "
    "[next] (thing|move|choice|option|step|action|play|call|course [of action]"
    "|strategy|decision|square|column|skill|answer|response|approach|bet|chance) "
    "[to (do|take|make)] [here|now] "
    "[(is|would be)] [to]"
)
IS_BEST = (
    "(is|seems|looks) the (best|safest|most sensible) (move|choice|option|action|play|thing) "
    "[here|now|for me]",
    "(seems|looks) best [here|now|for me]",
    "(seems|looks|feels|sounds) like [the|a] "
    "(best|right|safest|smart|sensible|logical|obvious|good) "
    "(call|move|choice|option|play|action|idea|thing [to do]) [here|now|for me]",
    "is the right (call|decision) [here|now]",
    "make [the] [(most|perfect|good)] sense [here|now]",
)
_DONE = (
    "(is what (i|we) (do|choose|pick|play|go (with|for))"
    "|is what (i'll|i will|we'll|i want to|i'm going to) do)"
)
_DECIDED = (
    "(i|i'll|i will|i'm going to|i am going to|let me|let's) (play it (safe|cool)"
    "|be (aggressive|careful|patient|cautious|bold|safe|honest|generous|nice)) [and]",
    "(it is|it's) (best|safest|wise|wisest|sensible|smart|smartest) [here|now] to",
    "it makes [the] [(most|perfect|good)] sense [here|now] to",
    "my vote [is]",
    "(i've|i have) thought about it and",
    "that leaves [me] [with] [only] one (thing|option|choice|move|action)",
    "without (delay|hesitation|further thought)",
    "let's go",
    "(i|we|i'll|let me) keep it simple [and]",
)
HEAD = (
    BEST,
    *_DECIDED,
    "(i|we) [(will|shall|am|choose|pick|select|decide|have decided|take the action)]",
    "(i|i'll|i'm|we|we'll) also",
    "(i'll|i'm|i've decided|we'll|we're) [go with|go for|opt for|choose|do|going (for|with)]",
    "(i'd|i would) (go (with|for)|choose|pick|opt for)",
    "(i'd|i had) better",
    "i (should|ought to) [(now|just|definitely|simply|really)]",
    "(i|we) [(will|shall)] (opt for|opt to|settle (for|on)|plump for|choose to|go ahead and)",
    "(i|we|i'll|we'll|let me|let's) (start|begin) by",
    "(i've|i have) (chosen|opted|resolved|settled|picked|selected) [(to|for|on)]",
    "(i|we) don't have (much|another|any other) choice",
    "(this|that) should be (safe|fine|ok|okay)",
    "same as before",
    "(i'll|i will|let me|i'm|let's) (try|attempt|trying|attempting) to",
    "must",
    "[i] (might|may) as well",
    "(i|we|i'll|i'm) (lock in|locking in|confirm|commit to|committing to|elect to|resolve to)",
    "(locking in|committing to|confirmed|decided|in short|short answer|long story short)",
    "(after|upon|on) [careful|some|much|further|due] "
    "(reflection|consideration|deliberation|thought)",
    "with (this|that) in mind",
    "that being said",
    "(under (these|the) circumstances|given the circumstances|in (this|that) case)",
    "(ok|okay|all right|alright|right) then",
    "((i've|i have) made up my mind|my mind is made up)",
    "(there is|there's) nothing better [to do]",
    "off (we|i) go",
    "the play is [to]",
    "(i am|i'm) going",
    "(i|we|i'll) [will] (need to|have to|must|try to|intend to|plan to|am about to|am ready to)",
    "(i would like|i'd like|i want|i wish|i would rather|i'd rather|i prefer|i'd prefer)",
    "(i should like|i would love|i mean|i intend|i propose) to",
    "(i'd love|i would love|i fancy|i'd better|i had better|i'm off to|gonna|i'm (gonna|about to))",
    "(i am|i'm|we are|we're|i'd be|i would be|i'll be|i shall be) "
    "(happy|glad|ready|content|pleased|set|planning|determined) to",
    "[(i am|we are|we're)] off to",
    "(go ahead|let me go ahead|let's go ahead|i'll go ahead) [and]",
    "(i think|i believe)",
    "(let me|let us|let's|allow me to|permit me to)",
    "(i say|i'd say|have to|need to|obviously|clearly|definitely|of course|certainly|absolutely)",
    f"(my|final|best|(here is|here's) my) [final|next|best|first] {_NOUN} "
    "[for (this|my) (turn|step|move)|for my next move] [is|will be|=]",
    f"(my|the) [next|first|final|best|current] {_AIM} (is|will be)",
    f"(my|the) next {_NOUN} would be [to]",
    f"the ({_NOUN}|option|one) i (want|choose|pick|take|select|prefer|like) is [to]",
    f"({_NOUN}|option|skill) (chosen|selected|taken)",
    f"i (choose|pick|select|take) ({_NOUN}|option)",
    "current (plan|action|move|step|choice) [is]",
    "(the|my) next (logical|sensible|obvious|natural|best) (step|move|action|thing) is [to]",
    "it would be (best|wise|wisest|sensible|smart|safest) to",
    "(i|we) (chose|picked|selected)",
    "(i'll|i will|i'm) (settle for|stick with|sticking with|continue to)",
    "(picking|choosing|selecting)",
    "what (i'll do|i will do|i want to do|i do|i'm going to do) [now|here|next] is [to]",
    "(all|the (only|best) thing) i can do [now|here] is [to]",
    "[it] (looks|seems) (like|that) i (should|have to|need to|must)",
    "[it] (looks|seems) best [here|now] to",
    "(the|my) (safest|best|wisest|smartest) is to",
    f"a (good|reasonable|sensible|solid|safe|decent) ({_NOUN}|option) [here|now] is [to]",
    "(i've|i have) (analysed|analyzed|considered|weighed|assessed|evaluated) "
    "(the (situation|options|board|state|position)|my options|everything) and",
    "(my|the) (analysis|reasoning|assessment) (suggests|indicates) [that] i should",
    "((my|the) (analysis|reasoning|assessment)|this|that|which) leads me to",
    "((that's|that is) why|for (this|that|these) (reason|reasons))",
    "the situation (calls for|requires) me to",
    "(it is|it's) (clear|obvious) [that] i should",
    f"(there is|there's|i have|i only have) [only] one [(sensible|good|reasonable|real|logical)] "
    f"({_NOUN}|thing|option) [to (do|make|take)]",
    f"as my [next] {_NOUN}",
    "(i've|i have) decided on",
    "((it is|it's) my turn|sure thing|yup|happy to|glad to)",
    "(i|we|i'll|i will) select",
    "i vote [(for|to)]",
    "(response|keep it simple|for (now|the moment))",
    "(all things considered|(considering|given) (everything|all (this|that|of (this|that)))"
    "|taking everything into account|to be [on the] safe [side])",
    "(proceed|proceeding) (to|with)",
    "(executing|execute|performing|perform|submitting|selecting)",
    "(right now|at this (point|moment|time|stage))",
    "(without|with no) (further|more|additional|other) (information|details|options)",
    "(no doubt|without [a] doubt|undoubtedly|surely|let's do (this|it))",
    "(my|the) [next|first|final] (choice|pick|decision|preference) (fall|settle|land) (on|upon)",
    "(my|the) (first|next|only|best) thing to do [here] is [to]",
    "(action|answer|move|choice|decision|next|first) [is]",
    "(it is|it's) time [for]",
    "time for",
    "(i|we) [(decided|opt|go)] (for|with|to)",
    "(decision|conclusion|plan|result|verdict) [is|=] [to]",
    "(go|going) (for|with)",
    "(for|on|in|with) (this|my) (turn|move|step|round|action)",
    "(for|with) my next (move|action)",  # but in the next turn is later
    "this (turn|time|step)",
    "my vote (is|goes) (for|to)",
    "(put me down|count me in|mark me down) for",
    "here (i|we) go",
    "(time (to|for)|to|so|okay|ok|alright|all right|sure|well|hm|hmm|very well|fair enough"
    "|no rush)",
    "(well then|here goes|steady as she goes|no worries|no problem|not to worry|my turn)",
    "without further ado",
    "(yes|yeah|yep|thanks|thank you|hello|hi|hey) [everyone|all|partner|friend|team|there]",
    f"(yes|yeah|yep|right|okay|ok|alright|thanks) {_WHO}",
    f"{_WHO} (i|i'll|i'm|i'd|let me|let us|let's|my)",
    "good (game|luck)",
    "(.|=)",
    _POLITE,
)
_THEY = (
    "(you|they|he|she|(my|the) (opponent|partner|rival|other|others) [player]"
    "|(player|chef|drone|robot|hunter|runner|pursuer|evader|near|far)"
    " (0|1|2|3|4|5|6|7|8|9|10|11))"
)
TAIL = (
    *IS_BEST,
    _DONE,
    "[the] best (option|choice|move|action)",
    "and thank you",
    "(thanks|thank you|thank you very much|many thanks) [everyone|all|partner|friend|team]",
    "(this|in this|on this|for this) (time|turn|move|step|round|one)",
    "(for now|right now|at once|immediately|here|again|once more|once again|instead|next|today"
    "|this time)",
    "(straight away|right away|straightaway|without (delay|fuss|hesitation|further ado)|first"
    "|for the moment|at this point|at this moment|to begin with|to start with|first of all)",
    f"(it is|[(that is|that's)] (is|that's) my [next|first|final] ({_NOUN}|{_AIM}))",
    f"as my [next|first] ({_NOUN}|{_AIM})",
    f"(as my|for my|with my) [next|first] (turn|{_NOUN}|{_AIM})",
    "(good luck|good game|gg|okay|ok|.)",
    "no rush",
    "(too|also|as well|anyway|anyhow|for the win)",
    "(i think|i believe|i'd say)",
    "(myself|on my own|on the way|along the way)",
    "and (be|i'm|i am) done [with it]",
    "and hope [for the best]",
    "and (that's|that is) (it|that|all)",
    "and finish (the|my|this) (chore|task|job)",
    "and see",
    f"(and|then) [then] (see|watch|wait and see) (what happens [next]|how it goes|what {_THEY} do"
    f"|how {_THEY} (react|respond))",
    "(it is|obviously|clearly|definitely|of course|for sure|certainly)",
    f"[thanks|thank you] {_WHO}",
    "from me",
    "(on my (part|side)|from my (side|end))",
    _POLITE,
)
# Around phrases that name no more than a thing ("bread"): there, other courtesy would make a
# sentence of its own of it ("I'm bread", "time to bread").
FEW_HEAD = (
    BEST,
    *_DECIDED,
    "i think",
    "(i'd|i would) (say|go (with|for)|pick|choose)",
    "(i|we) [(will|shall)] (choose|select|opt for|go (with|for))",
    "(i'll|we'll|i'd|let's) (choose|select|opt for|go (with|for))",
    "[(i|we|i'll|we'll|let me|let's)] (start|begin) (with|at|in)",
    "(okay|ok|alright|all right|sure|so|well|very well|fair enough|no rush|here goes|next|.|=)",
    "(yes|yeah|yep) [partner|team]",
    f"(yes|yeah|yep|okay|ok|alright) {_WHO}",
    f"([here is|here's] (my|the) [final|next|best|first]|final|chosen|next) ({_NOUN}|{_AIM}) "
    "[is|will be|=|fall on]",
    "going (with|for)",
    "(yeah|yep|yup|then|ok then|this (turn|step|time)|i say|let me go with|execute|sure thing"
    f"|plan|{_NOUN} is|i vote [for])",
    _POLITE,
)
FEW_TAIL = (
    *IS_BEST,
    _DONE,
    "[the] best (option|choice|move|action)",
    "and thank you",
    "(thanks|thank you|thank you very much|many thanks) [everyone|all|partner|friend|team]",
    f"(it is|is my [next|first|final] ({_NOUN}|{_AIM})|.|for now|next|first|this time|instead)",
    "(from|for) me",
    "[for] this (turn|step|round|time|move)",
    "(anyway|for the win)",
    "(i think|i believe|i'd say)",
    f"[thanks|thank you] {_WHO}",
    _POLITE,
)


# ---- waiting -------------------------------------------------------------------------------------

NEWS = (
    "(change|event|news|something|anything|signal|answer|reply|response|message|what happens"
    "|next (event|change|thing))"
)
UNTIL = (
    "(until|till) ((something|anything) (happen|change|concern (me|us)|matter)"
    "|there is (change|event|news|something new)|it concerns (me|us)|next (event|change))"
)
TIME = (
    "[[for] [just] [(a|an|1|one|this|another)] [(more|little|short|brief|single)] "
    "(step|turn|tick|moment|second|sec|round|bit|while|beat|instant)]"
)
# Patterns of "wait", "keep waiting", "wait until something happens", "wait 5 steps", for the action
# of a world that runs on without an answer.
WAITING = (
    "[(keep|keep on|continue|continue to|go on|still)] wait [(here|there|still|in place|quietly)] "
    f"[(for [(a|an|any|some)] {NEWS} [to (happen|change)]|{UNTIL})]",
    "[(keep|keep on|continue|continue to|go on)] wait [for] {count} [more] "
    "(step|turn|tick|moment|second|sec|round|bit|while)",
    "wait [here] for (my|the|our) (partner|teammate|colleague|friend|other|turn|(partner|teammate)"
    " s turn)",
    "[(keep|keep on)] wait [(moment|sec|bit|while|little|little while|longer|on)]",
    f"(hold on|stand by|stay|do nothing|idle|stay put) {UNTIL}",
    "(hang on|hang about|hang back|hold on|hold still|sit tight|stand by|stand still|stand back"
    "|keep still|keep put|stay put|stay still|stay|remain|idle|do nothing"
    "|bide my time|mark time|linger|tarry) "
    f"[(here|there|where i (am|stand)|in place|right here|right where i am)] {TIME}",
    f"(stay|remain|stand|keep|wait) [exactly|right] (where i (am|stand)|as i am) {TIME}",
    f"(stand|freeze|hold) [just|exactly|right] (here|there) {TIME}",
    "(watch|look on|observe) [for] (a|1|another|this) [(single|brief|short|little)] "
    "(turn|step|moment|round|while|bit|tick)",
    f"(have|take|make) [a] [(short|brief|quick|little|tiny)] (wait|pause|breather) {TIME}",
    f"[(a|1)] (short|brief|quick|little|tiny) (wait|pause|breather) {TIME} [for me]",
    "[just] [one] (1|another|more) (moment|second|step|turn|beat|tick) [more] (here|of waiting)",
    "(sit|wait) [out] (this|1) (one|1|turn|step|round) [out]",
    f"[just] wait [(here|there|still)] {TIME}",
    f"[(go|be|i'm)] afk {TIME}",
    "(let (this|1|my|a|the) (turn|step|round|tick) (pass|go by) [without (acting|moving|a move"
    "|doing anything)]|(pass|skip) (this|my) (turn|step))",
)
