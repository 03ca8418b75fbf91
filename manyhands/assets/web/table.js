// A game at a table: the picture, what is seen and what happened, choices as buttons and keys.

import { Screen, address, make, socket } from "./base.js";

const ARROWS = {
  ArrowUp: "up", ArrowDown: "down", ArrowLeft: "left", ArrowRight: "right",
  w: "up", s: "down", a: "left", d: "right", " ": "space", ".": ".", x: ".",
};
const NAMED = {
  north: "up", up: "up", south: "down", down: "down", west: "left", left: "left", east: "right",
  right: "right", interact: "space", do: "space", load: "space", stay: ".", wait: ".", noop: ".",
};
const SIGNS = { up: "▲", down: "▼", left: "◀", right: "▶", space: "␣" };
const PAD = ["up", "left", "down", "right", "space", "."]; // keys of a pad for moves
const REMEMBERED = 40; // lines of what happened

/** Keys for choices: the game's own, arrows and space by their words, numbers for others. */
export function bind(choices, own) {
  const keys = new Map();
  const taken = new Set();
  for (const [key, text] of Object.entries(own)) {
    const at = choices.findIndex((choice) => choice.text === text);
    if (at >= 0) { keys.set(key, at); taken.add(at); }
  }
  if (!keys.size) {
    choices.forEach((choice, at) => {
      const words = choice.text.toLowerCase().split(/[^a-z]+/);
      const key = NAMED[words[0]] || (words[0] === "move" ? NAMED[words[1]] : undefined);
      if (key && !keys.has(key)) { keys.set(key, at); taken.add(at); }
    });
  }
  const numbers = [..."1234567890"].filter((number) => !keys.has(number));
  choices.forEach((_, at) => { if (!taken.has(at) && numbers.length) keys.set(numbers.shift(), at); });
  return keys;
}

/**
 * A game. Gives its element, and `close`, which leaves the seat.
 *
 * options: `invite`, other seats' agents and tokens; `looks`, the token of those who look on;
 * `title`, called with the words for the top; `ended`, called when the game is over.
 */
export function table(id, seat, options = {}) {
  const screen = new Screen("what you see");
  const text = make("pre", { id: "text" });
  const heard = make("ol", { className: "happened", id: "happened", "aria-live": "polite" });
  const refused = make("p", { className: "refused", role: "alert", id: "refused" });
  const pad = make("div", { className: "pad", id: "pad" });
  const choices = make("div", { className: "choices", id: "choices" });
  const seats = make("ul", { className: "seats" });
  const rules = make("pre", {});
  const status = make("p", { id: "status", className: "status" }, "Waiting for everybody…");
  const again = make("button", { id: "again", className: "main", hidden: true, onclick: () => send({ type: "again" }) },
    "Play again");
  const words = make("input", { type: "text", id: "words", placeholder: "or answer in words",
    maxLength: 2000, "aria-label": "your answer in words", autocomplete: "off" });
  const speech = make("input", { type: "text", id: "say", maxLength: 200, autocomplete: "off",
    hidden: true, placeholder: "say with your next move", "aria-label": "what you say" });
  const answers = make("form", { className: "row", hidden: true, onsubmit: (event) => {
    event.preventDefault();
    if (words.value.trim()) { answer(words.value); words.value = ""; }
  } }, words, make("button", { type: "submit" }, "Send"));
  const invitations = make("div", { id: "invitations" });
  let keys = new Map();
  let offered = [];
  let spots = []; // areas of the picture that stand for choices
  let welcome = null;
  let toMove = false;
  let step = -1;
  let boxes = null; // where the next picture's parts belong
  let gone = false;
  let refusedEntry = false;

  const connection = socket("play", { table: id, seat });
  const send = (message) => {
    if (connection.readyState === WebSocket.OPEN) connection.send(JSON.stringify(message));
  };
  const answer = (said) => {
    refused.textContent = "";
    send({ type: "answer", words: said, say: speech.value || null });
    speech.value = "";
  };
  const pick = (choice) => {
    if (choice.many) {
      words.value = choice.text;
      words.focus();
      refused.textContent = "This line stands for many: change it, and send it.";
    } else answer(choice.text);
  };

  /** The words of the uppermost spot of the picture under the pointer; "" if there is none. */
  const pointed = (event) => {
    const frame = screen.element.getBoundingClientRect();
    const x = (event.clientX - frame.left) / frame.width;
    const y = (event.clientY - frame.top) / frame.height;
    const spot = spots.findLast(([left, top, wide, high]) =>
      x >= left && x < left + wide && y >= top && y < top + high);
    return toMove && spot ? spot[4] : "";
  };
  screen.element.addEventListener("click", (event) => {
    const said = pointed(event);
    if (said) answer(said);
  });
  screen.element.addEventListener("mousemove", (event) => {
    const said = pointed(event);
    screen.element.title = said;
    screen.element.style.cursor = said ? "pointer" : "";
  });

  /** A line of what happened, newest first. */
  const note = (at, lines) => {
    for (const line of lines)
      heard.prepend(make("li", {}, make("small", {}, `${at} `), line));
    while (heard.childElementCount > REMEMBERED) heard.lastElementChild.remove();
  };

  // Buttons stay while their words do: one that is pressed is not replaced under the finger.
  let drawn = "";
  const offer = (message) => {
    offered = message.choices || [];
    keys = bind(offered, welcome ? welcome.keys : {});
    const named = new Map([...keys].map(([key, at]) => [at, key]));
    const moves = PAD.some((key) => ["up", "down", "left", "right"].includes(key) && keys.has(key));
    const now = JSON.stringify([offered, moves]);
    if (now !== drawn) {
      drawn = now;
      pad.hidden = !moves;
      pad.replaceChildren(...(moves ? PAD : []).map((key) => {
        const at = keys.get(key);
        return make("button", { type: "button", className: `pad-${key === "." ? "wait" : key}`,
          title: at === undefined ? "" : offered[at].text,
          "aria-label": at === undefined ? key : offered[at].text,
          onclick: () => { if (at !== undefined) pick(offered[at]); } },
          key === "space" ? (at === undefined ? "␣" : offered[at].text)
            : key === "." ? (at === undefined ? "·" : offered[at].text) : SIGNS[key]);
      }));
      choices.replaceChildren(...offered.map((choice, at) =>
        make("button", { type: "button", onclick: () => pick(choice),
          className: moves && PAD.includes(named.get(at)) ? "padded" : "" },
          named.has(at) ? make("kbd", {}, SIGNS[named.get(at)] || named.get(at)) : null, choice.text,
          choice.effect ? make("small", {}, choice.effect) : null)));
    }
    for (const button of choices.children) button.disabled = !toMove;
    for (const button of pad.children)
      button.disabled = !toMove || !keys.has(PAD[[...pad.children].indexOf(button)]);
  };

  const handlers = {
    welcome(message) {
      welcome = message;
      (options.title || (() => {}))(
        `${message.game}, ${message.agent ? "you are " + message.agent : "you look on"}`);
      rules.textContent = message.rules;
      const link = (token) => {
        const url = new URL(address(location.pathname), location.href);
        url.hash = `#/play/${id}/${token}`;
        return url.href;
      };
      const lines = (options.invite || []).map((other) => [`Invite ${other.agent}: `, other.token]);
      if (options.looks) lines.push(["Let others look on: ", options.looks]);
      invitations.replaceChildren(...lines.map(([said, token], at) => {
        const href = link(token);
        const copy = make("button", { type: "button", onclick: () => {
          navigator.clipboard?.writeText(href).then(() => { copy.textContent = "Copied"; });
        } }, "Copy");
        const looks = at >= (options.invite || []).length;
        return make("p", { className: "link" }, said,
          make("a", { href, className: looks ? "looks" : "invite" }, href), " ", copy);
      }));
    },
    seats(message) {
      seats.replaceChildren(...message.seats.map((one) =>
        make("li", { className: one.here ? "" : "away" },
          make("b", {}, one.agent), ` ${one.seat}${one.here ? "" : " (not here)"}`)));
    },
    veiled(message) {
      status.textContent = `Step ${message.step}. Players hide something from each other: the game `
        + "is shown when it is over.";
    },
    view(message) {
      text.textContent = message.texts
        ? Object.entries(message.texts).map(([agent, said]) => `${agent}:\n${said}`).join("\n\n")
        : message.text;
      if (message.step <= step && message.step === 0) heard.replaceChildren();
      for (const [at, lines] of message.news)
        if (at !== step || at === 0) note(at, lines);
      step = message.step;
      toMove = Boolean(message.to_move);
      spots = message.spots || [];
      const reward = message.reward === undefined ? "" : ` Your reward: ${+message.reward.toFixed(3)}.`;
      status.textContent = (message.over ? "The game is over."
        : `Step ${message.step}` + (toMove ? ": your move." : "."))
        + reward;
      status.classList.toggle("due", toMove);
      again.hidden = !message.over || !welcome || welcome.once;
      answers.hidden = !message.agent || message.over;
      speech.hidden = answers.hidden || !welcome.talk;
      offer(message);
    },
    refused(message) { refused.textContent = message.reason; },
    failed(message) {
      status.textContent = message.reason;
      refusedEntry = !welcome;
      again.hidden = !welcome || welcome.once;
      (options.failed || (() => {}))();
    },
    ended() { (options.ended || (() => {}))(); },
  };
  connection.addEventListener("message", (event) => {
    if (event.data instanceof Blob) return screen.paint(event.data, boxes);
    const message = JSON.parse(event.data);
    if (message.type === "view") boxes = message.boxes;
    if (handlers[message.type]) handlers[message.type](message);
  });
  connection.addEventListener("close", () => {
    if (gone || refusedEntry) return;
    status.textContent = "The connection is lost; reload the page to take your seat again.";
    (options.lost || (() => {}))();
  });
  const typed = (event) => {
    if (event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement) return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter" && event.target instanceof HTMLButtonElement) return;
    const at = keys.get(ARROWS[event.key] || event.key) ?? keys.get(event.key);
    if (at === undefined || !offered[at]) return;
    event.preventDefault();
    pick(offered[at]);
  };
  document.addEventListener("keydown", typed);

  const element = make("div", {},
    seats, invitations,
    make("div", { className: "table" },
      make("div", { className: "stage" }, screen.element, status, refused, pad, choices, answers, speech,
        again),
      make("div", { className: "beside" },
        make("h2", {}, "What happened"), heard,
        make("h2", {}, "What you see"), text,
        make("details", {}, make("summary", {}, "Rules"), rules))),
  );
  return {
    element,
    close() {
      gone = true;
      document.removeEventListener("keydown", typed);
      connection.close();
    },
  };
}
