"""Ways to say CraftWorld's skills, as patterns of a `Grammar`."""

from __future__ import annotations

from manyhands.core.reading.phrases import WAITING
from manyhands.envs.craftworld.phrases import MAKE, NEAR, PLACE, RESTED, SLEEP_ON

_ON = (
    "[(stick|keep|hold|stay) (to|with|on) [my] (plan|task|goal|course) (and|.|by)] "
    "[(keep|still|continue [(with|to)]|keep on|go on [(with|to)]|go|go and|start|carry on [with]"
    "|set about|proceed to|resume|get back to|head off to|set out to)]"
)
_NEAREST = "[(nearest|closest|this|that|some|my|next|nearby)]"
_GATHER = (
    "(collect|gather|get|mine|chop|take|harvest|pick|pick up|cut|obtain|fetch|dig|dig up|chop down|"
    "cut down|fell|stock up on|gather up|go for|dig for|dig out|mine for|grab|get hold of|bring in"
    "|quarry|harvest from)"
)
_UNTIL = (
    "((until|till|til) ((you|i|we) (hold|have|carry|own|got|have got|have collected|have gathered)"
    "|i've (got|collected)|we've got) {n} [(of (them|it|those)|{again:item})] "
    "[(in (total|my bag|hand|my hand|my pack|my inventory|stock)|on me|altogether)]"
    "|(until|till|til) [(my|the)] [{again:item}] (stock|supply|bag|count|inventory|pile|total|store"
    "|reserve|pack) [of {again:item}] (is|reach|hit|hold|stand at|contain|count|be) {n} "
    "[{again:item}]|(for|to|up to) [a] total of {n} [{again:item}]"
    "|[.] [up] to {n} [(of (them|it|those)|(piece|unit|lump|log|block) [of it])]"
    "|[.] {n} [(of (them|it|those)|(piece|unit|lump|log|block) [of (it|them)])] "
    "(in (all|total)|altogether|all told|total))"
)
_MOST = (
    "(as (many|much) as (i|we) can [(carry|hold|take|get|find|collect|gather)]"
    "|as (many|much) as possible|all (i|we) can (carry|hold|get)"
    "|(until|till) (i|we) (can't|cannot) (carry|hold) [any] more"
    "|(until|till) my (bag|hand|pocket|pack|inventory) (is|are) full)"
)
_SIDE = "[right|straight|over] [(up|down|over|there|out)] (on|to|in|at) (the|my) {where:way} [side]"
_SEE = (
    "(explore|scout|look around|discover|search|find out what's there|(have|take) a look [around]"
    "|see (what's|what is|what there is|what lies) [out|over] there|see what (i|we) [can] find)"
)
_HAND = "(give|hand|hand over|pass|bring|deliver|carry|take|put)"
_BACK = "(give|hand|pass|bring)"
# Where a thing is that is seen.
_OVER_THERE = (
    "[([(up|down|over|right)] there|nearby|here|around (here|me)|close by|around|ahead"
    "|[right] in front of me|i face|beside me"
    "|next to me|near me|(on|to|at) [my] {where:way} [side] [of me]"
    "|[(just|right|lying|directly|over)] [(to|in)] {where:near} [(of|from) (me|here)])]"
)
_WATER = "(water|lake|pond|river|pool|stream|shore)"
_ENERGY = "(my|some|more|all [my]|lost) energy"
_FRIEND = "(buddy|friend|mate|pal|partner|teammate|team mate|companion|fellow|fellow player)"
_NEAR_THEM = (
    "(stay|stick|keep) [(close|near|nearby|there|around|close by|by (them|him|her)|with (them|him"
    "|her)|close to (them|him|her)|near (them|him|her))]"
)
_WHEREVER = (
    "[((wherever|everywhere|anywhere) ((they|he|she|it) (go|goes|walk|walks|are going)|{player} go)"
    "|closely|all the way|along|step by step|[over|right] there|around|everywhere)]"
)
_HERE = (
    "((here|right here|down|[right|directly] in front [of me]|ahead [of me]) "
    "[(on|onto) [this|that] (grass|sand|path|ground)]|on (grass|sand|ground) "
    "[[right] in front of me|ahead [of me]|here|right here]) [[.] [right|just] (close to|near"
    "|next to|beside|by|close by|not far from) [(my|this|that|some)] {by:sight}]"
)
SAID = {
    "collect": [f"{_ON} {_GATHER} {_NEAREST} {{again:item}} {_OVER_THERE} for [(some|more|its)] "
                "{item:goods}",
                f"{_ON} {_GATHER} [(some|more|my)] {{item:goods}} (from|off|out of|at) {_NEAREST} "
                f"{{again:item}} {_OVER_THERE} [{_UNTIL}]",
                f"{_ON} {_GATHER} {_NEAREST} {{item}} {_OVER_THERE} [{_UNTIL}]",
                f"{_ON} (chop|cut|knock|bring|take) {_NEAREST} {{item}} down {_OVER_THERE} "
                 f"[{_UNTIL}]",
                f"{_ON} {_GATHER} [(some|more|my)] [tree's] {{item:goods}} {_UNTIL}",
                f"{_ON} {_GATHER} {{count}} [more] [(piece|unit|lump) of] {{item:goods}} "
                f"(from|off|out of|at) {_NEAREST} {{again:item}} {_OVER_THERE}",
                f"{_ON} {_GATHER} {{count}} [more] (piece|unit|lump|log) "
                f"(from|off|out of|at) {_NEAREST} {{again:item}} {_OVER_THERE}",
                f"{_ON} {_GATHER} {_NEAREST} {{item:seedling}} (from|in|out of) grass "
                f"{_OVER_THERE} [{_UNTIL}]",
                f"{_ON} (search|look) [around] for {_NEAREST} {{item:seedling}} "
                f"(in|through|on) grass {_OVER_THERE} [{_UNTIL}]",
                f"{_ON} {_GATHER} {{item}} (here|[right] in front of me|i face|ahead) {_UNTIL}",
                f"{_ON} {_GATHER} {_UNTIL}",
                f"{_ON} {_GATHER} {{item}} [up] to [a] [total of] {{n}}",
                f"{_ON} {_GATHER} {_NEAREST} {{item}} (just|only|exactly) {{count}}",
                f"{_ON} {_GATHER} {_NEAREST} {{item}} [just] (1|one) [only]".replace(
                    "(1|one)", "{count}"),
                f"{_ON} {_GATHER} {{item}} {{count}} [(piece|unit|of them|more)]",
                f"{_ON} {_GATHER} {_NEAREST} {{item}} here {_UNTIL}",
                f"{_ON} {_GATHER} {{count}} {{item:goods}} (from|off|out of) {_NEAREST} "
                "(tree|grass|stone|rock) [here]",
                f"{_ON} {_GATHER} {{count}} {{item:goods}} first",
                f"{_ON} {_GATHER} (a|an|1|one|more|some more|enough) {{item}} [more] {_UNTIL}",
                f"{_ON} {_GATHER} {_NEAREST} {{item}} [{_UNTIL}]",
                f"{_ON} {_GATHER} {{count}} [(more|piece of|unit of)] {{item:goods}}",
                f"{_ON} {_GATHER} {_NEAREST} {{item}} (until|up to) {{n}}",
                f"{_ON} {_GATHER} up to {{n}} {{item}}",
                f"(go|walk|move|run|head) (to|toward|for) {_NEAREST} {{again:item}} "
                f"and {_GATHER} {{item}} [{_UNTIL}]",
                f"{_ON} (search|comb|look through) grass for {_NEAREST} {{item:seedling}} "
                f"[{_UNTIL}]",
                f"{_ON} ((search|look|hunt|forage) [around] for|find) {_NEAREST} {{item:seedling}} "
                f"[in grass] [{_UNTIL}]"],
    "collect all": [f"{_ON} {_GATHER} {_NEAREST} {{item}} [.] {_MOST}",
                    "as (much|many) {again:item} as (i|we) can [(carry|hold|take|get)] [(.|->)] "
                    f"{_ON} {_GATHER} {{item}} [{_UNTIL}]",
                    f"{_ON} {_GATHER} as (much|many) {{item}} as (i|we) can "
                    "[(carry|hold|take|get)]",
                    f"{_ON} {_GATHER} all {{item}} (i|we) can (carry|hold|take|get)",
                    f"{_ON} (search|comb|look through) grass for {_NEAREST} {{item:seedling}} "
                    f"[.] {_MOST}"],
    "search": [f"{_ON} (search|comb|look through|comb through) grass {_UNTIL}"],
    "drink": [f"{_ON} drink [some] [(water|from water|from lake)] [until [(i am|i'm)] full]",
              f"{_ON} (collect|get|fetch) [some] (water|drink)", "have [a] drink",
              "take [a] drink [of water]",
              f"{_ON} (drink|have [a] (drink|sip)|take [a] (drink|sip)|(get|grab) [a] (drink|sip)) "
              f"[(some|of)] [water] [(at|from|out of|by|in) {_NEAREST} {_WATER} {_OVER_THERE}]",
              f"(drink|quench my thirst|fill up) (at|from) {_NEAREST} {_WATER} {_OVER_THERE}",
              "quench my thirst"],
    "eat plant": [f"{_ON} eat {_NEAREST} [ripe] (plant|fruit|crop)"],
    "eat cow": [f"{_ON} (hunt|track|chase|run|put) {_NEAREST} cow down {_OVER_THERE}",
                f"{_ON} (go after|chase|chase down|hunt down|track down|slaughter|butcher|go for"
                f"|catch|get|slay|hunt|hit|eat|kill|attack|fight) {_NEAREST} cow {_OVER_THERE}",
                f"{_ON} (eat|hunt|kill|attack|fight|kill and eat|hunt and eat) {_NEAREST} cow"],
    "fight": [f"{_ON} (fight|attack|kill|hit|defeat|slay) [off] {_NEAREST} {{what:foe}}"],
    "place": [f"{PLACE} {_NEAREST} [1|one|a] {{what:put}} [down] "
              f"[{_HERE}]",
              "plant {_NEAREST} {what:seed} [here]".replace("{_NEAREST}", _NEAREST),
              f"(make|craft|create) [(my|1|one)] {{what:station}} [{_HERE}]"],
    "make": [f"{MAKE} [(myself|me|my|1|one|us)] {{what:tool}} {NEAR}"],
    "shelter": ["[(build|make|take|find|seek)] [(a|my)] shelter", "(wall|close|shut) "
                "(myself|me|us) in [with stones]", "take shelter", "dig in"],
    "build workshop": ["(build|make|set up) [a] workshop"],
    "sleep": [f"{_ON} (sleep|rest|nap) [here] {RESTED}",
              f"(go to sleep|fall asleep|go to bed|lie down to (sleep|rest)) [here] {RESTED}",
              f"(get|take|have|catch|grab) [some|a] (sleep|rest|nap|shut eye) [here] {RESTED}",
              f"(lie down|curl up|settle down) and (sleep|rest) [here] {RESTED}",
              "(hit (sack|hay)|turn in [for night]|catch [some] (z|zs|z's|zzz))",
              f"(recover|restore|regain|get [back]|recharge) {_ENERGY} [back] by (sleep|rest|nap)",
              f"(sleep|rest|nap|take [a] nap|get [some] (sleep|rest)) (to|and) "
              f"(recover|restore|regain|get [back]|recharge|refill) {_ENERGY} [back]"],
    "asleep": [SLEEP_ON],
    "wait": [*WAITING, "(wait|stay|remain|stand|idle|hold) [(here|still|put|in place|where i am"
    "|1 step|"
             "one step)]", "do nothing", "(no op|noop)", "(skip|pass) [(my|this)] (turn|step)"],
    "go to": [f"{_ON} (go|walk|move|run|head|travel|get|make|make my way|come|carry on|press on"
              f"|push on) "
              "[back|over|across|up|down|on|off|straight|out|close|closer] (to|toward|for) "
              f"{_NEAREST} {{what:sight}} [({_SIDE}|over there)]",
              f"[go [and]] (stand|be|stop) (next to|beside|by|near|at) {_NEAREST} {{what:sight}}",
              f"(approach|reach|find [my] way to) {_NEAREST} "
              "{what:sight}"],
    "still": [f"((still|keep [on]|continue|carry on) (head|go|walk|move|run|travel)|continue"
               f"|carry on|keep on|press on) [over] (to|for|toward) {_NEAREST} {{what:sight}} "
              f"[{_OVER_THERE}] "
              "[(to|and) (get|fetch|collect|chop|mine|gather|cut|take|grab|dig|chop down|cut down) "
              "[(it|its|some|more|the|that)] [{again:item}]]"],
    "under way": ["(keep going|keep [on] at|carry on|continue|go on|proceed|press on|push on|get on"
                  "|stick|stay|persist) [(with|to|on|at)] [(my|this)] {item} "
                  "[(collect|collection|gather|chop|work|job|task|run|plan|mine)]"],
    "explore": ["(on (we|i) go|press on|push on|carry on|move on|travel on|walk on|journey on|go on"
                "|continue|keep [on] (go|walk|head|move|travel|march|wander)|march on|onward"
                "|keep on|proceed|push onward|further|farther) [(further|farther|on)] "
                "[(to|toward|in)] {way} [direction]",
                "(continue|keep up|carry on with|proceed with|go on with|resume) [(my|our)] {way} "
                "(walk|trip|march|journey|exploration|course|route|search|way|trek|hike)",
                "(wander|roam|venture|strike out|strike) [(out|off|on)] [(to|toward)] {way}",
                "(explore|scout|search|comb|survey) [(land|area|terrain|ground|region|map|territory"
                "|country|side)] [(further|farther)] [(to|toward|in)] {way} [(of (here|me)|side)]",
                "(look|search|hunt) [around] for [(some|more|any|new|other|another)] {seen} "
                "[(by|.|and)] [(wander|walk|go|explore|head|move|travel|scout)] [(out|further"
                "|farther"
                "|to|in|toward)] {way}",
                "{way} (to|and) (explore|scout)",
                "(wander|roam|venture|rove) [(off|out|around|about|over)] [(to|toward|in|into)] "
                "{way} "
                "[(side|direction)]",
                "(explore|scout|check out|look at|search|uncover) {way} (side|part|of here)",
                "(check out|uncover) {way}",
                "(wander|roam|venture) [off] [to] {way} (to|and) (see|discover|find|explore) "
                "[(what's there|whats there|what is there|new (terrain|ground|land|thing))]",
                "(explore|uncover) [map] to {way} [of here]",
                "(discover|find out|see|look) (what's|what is|what lies) "
                "[(out|over|down|up) there] "
                "[(up|down|in|to|out|over)] "
                "{way}",
                "((have|take) a look|look) around (in|to|toward) {way}",
                f"{_ON} (explore|scout) {{way}}",
    "(explore|scout) [further] out {way}",
                "(go|head|set off|walk|travel) (exploring|explore|scout) [(to|toward|in|into)] "
                "{way}",
                "(go|head|set off|walk|travel|move|set out|wander|venture) "
                f"[(out|off|over|further)] [(to|toward|in|into)] {{way}} (to|and) {_SEE}",
                "(have|take) a look [around] (to|in|toward) {way}",
                "see what (lies|is) {way}",
                "(explore|scout|go see|go and see|check|find out) (what is|what's|what lies"
                "|whatever (lies|is)) [(out|over|up|down)] [(to|in|at)] {way}",
                "(explore|scout) (up|down|over|off|out) [(to|in|toward)] {way}",
                "[(go|keep|continue|start|go on)] (explore|scout) "
                "[further] [(to|toward|in|into)] "
                "{way} [(direction|side)]"],
    "one way": ["[(go|walk|run|head|travel|explore to)] [to] {way}"],
    "move": ["(turn|face|look) [(to|toward)] [my] {way} [side] [(toward|to|at|to face) [the|this] "
             "{at:sight}]",
             "(turn to|turn toward|face) [the|this|that] {at:sight} (by (go|move|turn|step"
             "|press)|with "
             "[a] (step|turn|move)) [(to|toward)] {way}",
             "(move|step) [(1|one) (step|cell|tile)] [to] {way} [(1|one) (step|cell|tile)]",
             "take [(1|one|a|another)] [(plain|single|small|simple)] step [to|toward] {way} "
             "[toward [this|that|next] {sight}]", "(go|walk) (1|one) step [to] {way}"],
    "named": ["{name}"],
    "do": ["[(use|do|perform|take|apply|choose)] [plain] [(action|step)] do [(on|at|with|to) "
           "[the|this|that] {at:sight}]",
           f"{_GATHER} {_NEAREST} {{at:sight}} {_OVER_THERE} [.] (with|using|by|as) [my|1|one] "
           "[(plain|single|simple)] do [(action|step)]"],
    "one step": ["@"],
    "follow": ["(follow|accompany|join|team up with|(stay|stick|keep|walk|move|tag along|go|team)"
               " [very|right] [(close|closer|near|on)] (to|by|with|beside|behind|near|next to"
               "|along with|alongside)|get closer to|tag along with|trail|trail (behind|after)"
               "|shadow|escort|stick together with|keep up with|catch up with|catch up to"
               "|go after|walk after|run after|(go|walk|come|head|run) [over|up|across|back] to"
               "|keep follow|(go|walk) [over] (to|and) join) "
               f"[my] [{_FRIEND}] [{{player}}] {_WHEREVER}",
               f"go (over|up|across|back) to [my] {{player}} and {_NEAR_THEM}",
               "(keep|stay) [my] {player} (company|s side)", "keep company with [my] {player}",
               "(stay|walk|keep) at [my] {player} s (side|heel)",
               "go (where|wherever|to where) [my] {player} (go|is)",
               "(stick|stay|go|keep) with [my] {player} and (go after|follow) (them|him|her|it)"],
    "help": ["(help|help up|revive|rescue|save|go help|go and help) [my] {player} [(up|get up)]",
             "help up", "go help"],
    "give": [f"{_HAND} (all|both) {{count:n}} [of] [my] {{gift}} [over] to [my] {{player}}",
             f"{_HAND} {{count:both}} [of] [my] {{gift}} [over] to [my] {{player}}",
             f"{_BACK} [my] {{player}} ({{count:both}}|all {{count:n}}) [of] [my] {{gift}}",
             "share {count} [of my] {gift} with [my] {player}",f"{_HAND} [(all|all my|all "
             f"of my|my)] {{gift}} [over] to [my] {{player}} [{_UNTIL}]",
             f"{_HAND} {{count}} [of my] {{gift}} [over] to [my] {{player}}",
             f"{_BACK} [my] {{player}} [(all my|all of my|my)] {{gift}} [{_UNTIL}]",
             f"{_BACK} [my] {{player}} {{count}} [of my] {{gift}}", f"{_HAND} {{gift}}",
             "share [my] {gift} with [my] {player}",
             "(let|have) [my] {player} (have|take) [(all|some) [of]] my {gift}",
             "[here [(you (are|go)|.)]] [.] {player} [.] (have|take) [(some|1|one) of] my {gift}"],
    "work": [f"{_ON} (work|push|pull|press|heave|lean) [(on|at|against)] "
             "{joint} [together] [with [my] {player}]",
             f"{_ON} (open|light|bridge|activate|use) {{joint}} [(in front|ahead) of me] "
             "[together] [with [my] {player}]"],
    "request": [
        # Said to somebody (`tails.heads`).
        "-> (give|hand|pass|bring|send|fetch|get|lend|drop|spare|share) me [(some|more|1|one|a"
        "|your)] "
        "{gift}",
        "-> i (need|want|could use|could do with|lack|am short of|am out of|require|'m short of) "
        "[(some|more|1|one|a)] {gift} [for [(my|a|the)] ({what:tool}|{what:put}|tool)]",
        "(tell|let) [my] ({player}|others|everyone|team) [know] [that] i (need|want|require|lack) "
        "[(some|1|one|more)] {gift}",
        "(put in|make|send|send out) [a] request for [(some|1|one|more)] {gift}",
        "beg [my] {player} for [(some|1|one|more)] {gift}","(request|ask for|beg for|call for) "
        "[(some|1|one|more)] {gift}",
                "ask (everyone|others|all|[my] {player}) for [(some|1|one|more)] {gift}"],
}  # fmt: skip
# Phrases that name no more than a thing.
SHORT = {
    "collect": ["[(some|more)] {item} " + _UNTIL, "{count} {item:goods} first",
                "[just] {count} [(piece|log|unit|block|lump) of] {item:goods} (from|off) "
                f"{_NEAREST} (tree|grass|stone|rock)",
                "i want [single] {count} {item:goods}", "[{count}] more {item:goods}"],
    "collect all": [f"[(some|more)] {{item}} [.] {_MOST}"],
    "go to": ["[over|back|across|off|on|up] to [(nearest|closest|that|this)] {what:sight}",
              "[(nearest|closest|that|this)] {what:sight} [(over|right)] [there]"],
    "make": [f"[(1|one|a|my)] {{what:tool}} {NEAR}"],
    "give": ["{count} [of my] {gift} (to|for|are for) [my] {player}",
             "(all|both) {count:n} [of] [my] {gift} (to|for|are for) [my] {player}",
             "{count:both} [of] [my] {gift} (to|for|are for) [my] {player}"],
}  # fmt: skip
