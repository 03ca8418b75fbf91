"""Reading answers: from the words of a seat to its action, or to why they are none.

`answers.decide` is the way in for every game. The modules, in the order in which an answer meets
them:

What decides
    `turns` (what a model says without its thoughts), `objects` and `calls` (JSON and tool calls),
    `ranks` (choices by their place), `answers` (tags, brackets, ACTION lines, what is said aloud).

What a sentence means
    `words` (tokens, forms, numbers), `grammar` (phrases as patterns, of which no word is left
    over), `phrases` (those of all games). `word_order`, `pronouns` and `steps` bring other
    sentences to these.

What may stand around it
    `signs` (words that turn a sentence round), `cuts` and `asides` (sentences in two parts, what is
    told and what is done), `frames` (talk around what "I" do), `bare` (an action beside a remark),
    `plain`, `idioms` and `margins` (chat, set phrases, praise and labels, which say nothing).

Several sentences
    `verdict` (the one that decides), `closing` (the one at the end), `corrections` (what is taken
    back).

Where nothing was read
    `slips` and `lookalikes` (slips of the pen), `doubts` (why it is no action).

`spelling` goes the other way: all answers of a kind, for writers that are kept to them.
"""
