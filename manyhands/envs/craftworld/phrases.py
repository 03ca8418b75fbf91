"""Parts of the phrases that name CraftWorld's actions, as patterns of a `Grammar`."""

from __future__ import annotations

import re

ON = "[(keep|continue|keep on|go on|continue to|try|(start|begin) [off] (by|with))]"
# How far something is, for a tail: "three cells east", "2 right 1 up".
DISTANCE = (
    "({n} (cell|step|tile|square|space) (to|on) [my] {side}|{n} [(cell|step|tile|square)] {side}"
    " [[and] {n} {side}]|[just] {side} of (me|here)|[right] to my {side}|1 {side})"
)
NEXT_TO = (
    "[(just|right|directly|straight|up|over)] (next to|beside|by|(close|closer|near|nearer) [to]"
    "|adjacent to|in line with|level with|within reach of|in reach of|up to|to|toward|in front of"
    "|into reach of|alongside|against|above|below|beneath|underneath|under|onto"
    "|past|around|in (column|row) (of|with)"
    "|(1|one) (step|cell) (from|(closer|nearer) to)|touching)"
)
# Free cells that are no things: what was dug, and a way between rocks.
HOLE = (
    "[(my|that|this|dark|open|free|empty|new|narrow)] {onto:hole} [(entrance|mouth)] "
    "[[that] i [just] [have|'ve|just] (mined|dug|made|opened|cleared|cut|carved|created) [out]"
    "|(just|freshly) (mined|dug|opened)|left by {of:thing}]"
)
HOLED = HOLE.replace("{onto:hole}", "{hole}")
HOLES = (
    *("hole", "gap", "opening", "tunnel", "passage", "corridor", "cave", "shaft", "alley"),
    *("free cell", "empty cell", "path", "path cell", "path tile", "grass cell", "sand cell"),
    *("cell", "tile", "square", "space", "clearing", "free space", "hallway", "trench", "pit"),
)
# What something is asked for: "for a stone sword".
WANTED = (
    "[(for|to (make|craft|build|place|finish)) [(my|our|this|1|one|next)] ({tool}|{put}|pickaxe"
    "|sword|tool|crafting|building|this|it|shelter|bridge)]"
)
GOODS = "[(piece|unit|block|lump|log|bit) of] [(remaining|last|spare)] {gift}"
ONE = "(1|one|single|1 single)"
CELL = f"[[{ONE}] (step|pace|cell|tile|square|space|block|row|column|spot|notch)|{ONE}]"
OF = "(piece|block|unit|lump|chunk|bit|vein|slab|log|cell|stretch|patch) of"
DET = (
    "[(some|my|its|this|that|1|one|more|another|nearby|adjacent|nearest|1 more|one more|second|new"
)
DET += f"|further|additional|of my|1 of my|one of my|own)] [{OF}]"
AT = (
    "[(block|tile|boulder)] "
    "[(in front|in front of me|directly in front of me|ahead|ahead of me|right in front of me|"
    "[up|down|over] there|where (i am|i'm) (looking|facing)|where i (look|face)"
    "|[right] here [(in front of me|ahead|before me)]|in cell ahead|on ground ahead|"
    "before me|that i face|that i am facing|that i'm facing|i am facing|i'm facing|i face|"
    "right here|here|there|nearby|next to me|by me|[directly|right|just] {at:rel})]"
)
WITH = "[(with|using) [my] [(own|new|good|trusty|best)] "
WITH += "({tool}|pickaxe|axe|sword|hand|fist|bare hand|tool|weapon)]"
GET = "(collect|gather|take|get|obtain|grab|reach|mine|chop|chop down|cut|drink|eat|fight|attack|"
GET += "hit|kill|hunt|harvest|find|help|pick up|dig|drink from|face|look for)"
# What `do` is done for: "use the grass and hope for a sapling".
FOR = f"(for|(to|and) {GET}|[and] hope (for|to {GET})|in hope of [{GET}])"
PLACE = "(place|put|put up|put down|put together|set|set up|set down|lay|lay down|build|construct"
PLACE += "|install|erect|position|drop|put back|add)"
MAKE = "(make|craft|build|forge|create|produce|construct|fashion|carve|smith|knock together|hammer"
MAKE += "|put together|carve out)"
NEAR = "[(at|near|beside|next to|using|with|on|by) [my|this|our|nearby|close] (table|furnace"
NEAR += "|crafting table|workbench|bench|table and furnace) "
NEAR += "[(nearby|here|beside me|next to me|close by|behind me|near me)]]"
# What may come of it: "poke the grass, maybe a sapling pops out".
LUCKY = (
    "[.] [(and|in case|with [a bit of] luck|maybe|perhaps|possibly|hopefully|let's hope|hoping"
    "|who knows|could be)] [(i (get|find)|it (give|yield|drop|hold|hide|have) [me]|there is)] "
    f"{DET} {{of:thing}} [(pop (out|up)|come (out|up|loose)|turn up|drop|fall out|appear|show up"
    "|(is|be) (in (it|there)|there|hiding))] [(this time|in it|there|from it|here)]"
)
SEEK = (
    "(for|to (find|get|pick)|[and] (hoping|hope) (for|to (find|get|pick|see))|in (hope|hopes) of"
    "|(to|and) (see|check|find out) (if|whether) [(i (find|get)|there is|it (give|yield|hold|hide"
    "|have|drop)) [me]]|[and] (hoping|hope) [that]) "
    f"{DET} {{of:thing}} [(drop|pop (out|up)|come (out|up|loose)|turn up|appear|show up|fall out"
    "|(is|be) (in (it|there)|there|hiding))]"
)
GIVE = "(give|hand|hand over|pass|transfer|donate|gift)"
MINE = "[(some|my|1|one|our|of my|1 of my|one of my|another|1 more|more|spare|my spare|1 of)]"
MINE += "[(piece|unit|bit|lump|block) of [my]]"
WISH = "[(with my (compliments|blessing|love|best wishes)|as a (gift|present)"
WISH += "|as (promised|requested|asked|agreed|wished)|as (you|they|he|she|it) (asked|wished))]"
GO = (
    "(move|go|walk|step|head|run|travel|proceed|shuffle|slide|shift|advance|edge|inch|retreat|back)"
)
# What is said to come nearer to something, before the way.
JOIN = (
    "[[(in order)] to] (follow|join|catch up with|go after|chase|approach|reach|accompany|escort"
    "|(get|come) (closer|nearer) to|[go] over to|stay (close to|near|with)|make for|head for|meet)"
)
# Who goes: "my character goes right".
FIGURE = re.compile(
    r"^(?:(?:have|let|make) )?my (?:character|avatar|figure|hero|guy|explorer)(?: will| now)? "
    r"(?=\w)"
)
ASK = "(request|ask for|beg for|call for|ask [my] {player} for|ask everyone for|ask others for"
ASK += "|ask all for|ask team for|ask my team for|ask [my] (teammate|partner|mate) for"
ASK += "|request help with"
ASK += "|ask [the] other [(one|player)] for|ask (again|once more) for|call [out] again for"
ASK += "|(repeat|renew|keep up) my (call|request|wish|plea) for|put in a (request|call|wish) for)"
ALL = "(others|other two|two others|both|both [of] (them|others)|everyone|everybody|team|all)"
NEED = "(need|want|require|lack|would like|could (use|do with)|miss|wish for)"
NEEDED = (
    f"(i {NEED}|(i'm|i am) (in (need|want) of|short of|after|missing|lacking|out of|looking for)"
    f"|(i'd|i would) like) {MINE} {{gift}}"
)
# As somebody asked before: "same as my friend did".
LIKEWISE = "[([the] same as|just (as|like)|like|as) ([my] {player} [(did|do|asked|has)]|before)]"
SIDE = "(to|on|at|in) [my] {way} [side|hand|hand side|of me|direction]"
# Where something stands, and that one goes there: "the tree is on my right, so I walk that way".
STANDS = (
    "(is|lie|stand|sit|wait|grow|be) [(now|just|still|only)] [(straight|directly|right|due)] "
    "[(ahead|there|over there|up|down|over|out|off)] "
    f"([{{n}} (cell|step|tile|square)] ({SIDE}|due {{way}}|{{way}} of me|{{way:rel}})"
    "|{n} {way})"
    " [[.] [only] {n} (cell|step|tile|square) [(off|away|out|from (here|me))]]"
)
THAT_WAY = (
    "(that way|there|over there|over|in that direction|(toward|to|closer to|nearer to) (it|them)"
    "|closer|nearer)"
)
STANDS_STILL = (
    "(wait|stay|remain|stand|hold|pause|hang back|hold back|stand back|stay put|keep still"
    "|stand still|hold still|sit tight|do nothing) "
    "[(here|still|put|in place|where i am|right here|there|back)] "
    "[[for] [just] [(1|one|this|a|another)] [(short|brief|more)] (step|turn|tick|moment|bit|while)]"
)
OUT_OF_WAY = (
    "(come (over|here|closer|near|to me|up|along) [(here|to me)]|join me|catch up [with me]"
    "|reach me|go|pass|move|act|leave|work|finish|decide|walk|come|clear off"
    "|get out of [the|my] way|do it|get on with it) "
    "[(first|on|by|past|away|off|over|ahead|through|here|1 step)]"
)
LUCK = (
    "(take|try) [a|my] (chance|gamble|shot|luck)|gamble|(chance|push) my luck"
    "|have a (go|try|shot)|try|roll the dice"
)
RESTED = (
    "[(until|till) (morning|dawn|sunrise|daylight|i (wake|wake up|am rested|am awake)"
    "|it is (light|day|morning)|[my] energy is (full|9|back|restored)"
    "|i (have|get) [(my|all my|full)] energy [back]|(i (am|feel)|i'm) [(fully|well|completely)] "
    "(rested|fit|refreshed|awake))]"
)
_A_WHILE = (
    "[(on|more|longer|further|some more|[for] [just] (a|1|one|another) [(little|bit|while|few)] "
    "[(longer|more|while|bit|step|turn|moment|further)]|bit longer|little longer|peacefully"
    "|soundly|through [(this|the|whole)] night|right through|(through|during) it)]"
)
_SLEEP = "(sleep|snooze|doze|nap|rest|slumber|dream|recharge|recover|regain [my] energy)"
SLEEP_ON = (
    f"[(just|only|still)] ((sleep|snooze|doze|nap|rest|slumber|dream) (on|more|longer|further"
    f"|some more|a bit longer|bit longer|little longer|bit more|little more|for another "
    f"(step|turn|while)|away) {RESTED}"
    f"|[(just|still)] (stay|remain|lie|be|keep) [fast|sound] (asleep|in bed) {_A_WHILE} {RESTED}"
    f"|[(just|still)] (keep [on]|continue [(to|with)] [my]|go [back] on|carry on|keep up) {_SLEEP} "
    f"{_A_WHILE} {RESTED}"
    f"|(do nothing|wait|noop|idle|stay put) and (keep|keep on|continue [to]|go on|carry on) "
    f"{_SLEEP} {_A_WHILE}"
    " [still asleep]"
    "|let [this] night (pass|go by) [[still] (asleep|sleeping|in bed)]"
    "|[(i|i'm|i am)] still (asleep|sleep|snooze|doze) [[so] [i] (wait|noop|do nothing|keep sleeping"
    "|let (time|night|it|step) pass)]"
    "|(z|zz|zzz|zzzz|zzzzz|zzzzzz) [.]"
    "|sleep (tight|well|in|soundly)"
    "|back to sleep|stay in sleep|(sleep|snooze) (through|out) [the|this|whole] night)"
)
# What is asked for.
REQUESTS = (
    f"(beg|ask|implore|call on|petition) [my] {{player}} for {MINE} {{gift}}",
    f"(put in|make|send|send out|put out|submit|repeat|renew) [(a|my)] request for {MINE} {{gift}}",
    f"(can|could|may) (i|we) [please] (have|get|borrow|take) {MINE} {{gift}} "
    f"[(from|off) (you|[my] {{player}})] {WANTED} [?]",
    # Said to somebody (`tails.heads`).
    "-> (give|hand|pass|bring|send|fetch|get|lend|drop|spare|share|toss|deliver) me "
    f"{MINE} {{gift}} {WANTED}",
    f"-> ({NEEDED}|send {MINE} {{gift}} (over here|my way|over)) {WANTED}",
    f"-> {ASK} {MINE} {{gift}} {WANTED}",
    f"(tell|let|inform|signal|signal to|show) [my] ({{player}}|{ALL}) [know] [that] {NEEDED}",
    f"(signal|announce|declare|broadcast|report|show|shout|call out|make [it] known) "
    f"[to [my] ({{player}}|{ALL})] [that] ({NEEDED}|[i] {NEED} {MINE} {{gift}})",
    f"(signal|announce|broadcast|show|express) [my] (need|wish|want|demand) "
    f"(of|for) {MINE} {{gift}} [to [my] ({{player}}|{ALL})]",
    f"(ask|beg) [my] {ALL} for {MINE} {{gift}}",
    f"(ask|beg|plead) 4 {MINE} {{gift}}",
    f"(beg|plead|appeal|put out a call|call out) [(to|with) [my] ({{player}}|{ALL})] "
    f"for {MINE} {{gift}}",
    "(repeat|renew) my {gift} request",
    f"{ASK} {MINE} {{gift}} [from (everyone|others|{{player}})] {LIKEWISE}",
    f"my request (is|be) [for] {MINE} {{gift}}",
    f"(ask|request|beg) {MINE} {{gift}} (from|to|of) [my] ({{player}}|{ALL}) {WANTED}",
    f"req {MINE} {{gift}} [from {{player}}]",
    "a (bit|piece) of {gift} from [my] {player}",
    "[a] {gift} request",
    f"(ask|get|tell|call on|beg) [my] ({{player}}|{ALL}|someone) to "
    f"(give|hand|pass|bring|send|fetch|get|lend) me {MINE} {{gift}}",
    f"(shout|yell|cry|scream|call) [out] for {MINE} {{gift}}",
    f"(ask around for|demand|inquire (about|after)|order) {MINE} {{gift}}",
    "let (others|everyone|team) (see|know) that i need {gift}",
    "let (others|everyone|team) (see|know) i need {gift}",
)
