// The pages of `manyhands serve`: games to choose, a table, records. What games and players say is
// only ever set as text, never as markup.

const main = document.getElementById("main");
const where = document.getElementById("where");
const TOKEN = new URLSearchParams(location.search).get("token") || "";

// ---- small things --------------------------------------------------------------------------

/** An element with properties and children; strings become text. */
function make(name, properties = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key in element) element[key] = value;
    else element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

function show(...children) {
  main.replaceChildren(...children);
}

/** The address of something on this server, with the token. */
function address(path, parameters = {}) {
  const query = new URLSearchParams(parameters);
  if (TOKEN) query.set("token", TOKEN);
  const words = query.toString();
  return path + (words ? "?" + words : "");
}

function socket(path, parameters) {
  const url = new URL(address(path, parameters), location.href);
  url.protocol = location.protocol === "https:" ? "wss:" : "ws:";
  const opened = new WebSocket(url);
  opened.binaryType = "blob";
  return opened;
}

async function ask(path, options) {
  const answer = await fetch(address(path), options);
  const found = await answer.json();
  if (!answer.ok) throw new Error(found.error || answer.statusText);
  return found;
}

let leave = () => {}; // ends what the current page does

// ---- the first page ------------------------------------------------------------------------

async function home() {
  where.textContent = "";
  show(make("p", { className: "faded" }, "Loading…"));
  try {
    const { games, person } = await ask("games");
    const { records } = await ask("records");
    show(
      make("h1", {}, "Play"),
      make("div", { className: "games" }, ...games.map((game) => card(game, person))),
      ...(records.length ? [make("h1", {}, "Records"), ...records.map(recordRows)] : []),
    );
  } catch (error) {
    show(make("p", { className: "refused", role: "alert" }, error.message));
  }
}

function card(game, person) {
  const selects = game.agents.map((agent, i) =>
    make(
      "select",
      { name: agent },
      ...game.seats.map((seat) =>
        make("option", { value: seat, selected: seat === (i ? game.seats[1] : person) },
          seat === person ? (i ? "a person, by a link" : "you") : seat),
      ),
    ),
  );
  const clock = make("select", { name: "clock" },
    make("option", { value: "" }, "waits for everybody"),
    ...[0.25, 0.5, 1, 2, 5].map((s) => make("option", { value: s }, `a step every ${s} s`)));
  const seed = make("input", { type: "number", name: "seed", min: 0, max: 2147483647, value: 0 });
  const failed = make("p", { className: "refused", role: "alert" });
  const start = make("button", { type: "submit" }, "Start");
  const form = make(
    "form",
    {
      className: "card",
      onsubmit: async (event) => {
        event.preventDefault();
        start.disabled = true;
        failed.textContent = "";
        try {
          const table = await ask("tables", {
            method: "POST",
            headers: { "Content-Type": "application/json" },
            body: JSON.stringify({
              game: game.name,
              seats: selects.map((select) => select.value),
              clock: clock.value ? Number(clock.value) : null,
              seed: Number(seed.value),
            }),
          });
          const [own, ...others] = table.seats;
          sessionStorage.setItem(`invite ${table.table}`, JSON.stringify(others));
          location.hash = `#/play/${table.table}/${own ? own.token : table.watch}`;
        } catch (error) {
          failed.textContent = error.message;
          start.disabled = false;
        }
      },
    },
    make("h2", {}, game.name),
    make("p", {}, game.about),
    ...selects.map((select, i) => make("label", {}, `${game.agents[i]}: `, select)),
    make("label", {}, "time: ", clock),
    make("label", {}, "seed: ", seed),
    failed,
    start,
  );
  return form;
}

function recordRows(record) {
  const rows = record.episodes.map((episode) =>
    make("tr", {},
      make("td", {}, make("a", { href: `#/record/${record.record}/${episode.episode}/0` },
        `episode ${episode.episode}`)),
      make("td", {}, episode.game),
      make("td", {}, episode.seats.join(", ")),
      make("td", {}, `${episode.steps} steps, ${episode.ended}`),
      make("td", {}, episode.rewards.map((reward) => +reward.toFixed(2)).join(" / ")),
    ),
  );
  return make("section", {},
    make("h2", {}, record.name),
    record.broken ? make("p", { className: "refused" }, record.broken) : null,
    make("table", {}, ...rows));
}

// ---- a table -------------------------------------------------------------------------------

const ARROWS = {
  ArrowUp: "up", ArrowDown: "down", ArrowLeft: "left", ArrowRight: "right",
  w: "up", s: "down", a: "left", d: "right", " ": "space", ".": ".", x: ".",
};
const NAMED = {
  north: "up", up: "up", south: "down", down: "down", west: "left", left: "left", east: "right",
  right: "right", interact: "space", stay: ".", wait: ".",
};

/** Keys for choices: the game's own, arrows and space by their first word, numbers for others. */
function bind(choices, own) {
  const keys = new Map();
  const taken = new Set();
  for (const [key, text] of Object.entries(own)) {
    const at = choices.findIndex((choice) => choice.text === text);
    if (at >= 0) { keys.set(key, at); taken.add(at); }
  }
  if (!keys.size) {
    choices.forEach((choice, at) => {
      const word = (choice.text.toLowerCase().match(/^[a-z]+/) || [""])[0];
      const key = NAMED[word];
      if (key && !keys.has(key)) { keys.set(key, at); taken.add(at); }
    });
  }
  const numbers = [..."1234567890"].filter((number) => !keys.has(number));
  choices.forEach((_, at) => { if (!taken.has(at) && numbers.length) keys.set(numbers.shift(), at); });
  return keys;
}

function table(id, seat) {
  where.textContent = `table ${id}`;
  const picture = make("img", { alt: "what you see" });
  const text = make("pre", { id: "text" });
  const heard = make("div", {});
  const refused = make("p", { className: "refused", role: "alert", id: "refused" });
  const choices = make("div", { className: "choices", id: "choices" });
  const seats = make("ul", { className: "seats" });
  const rules = make("pre", {});
  const status = make("p", { id: "status" }, "Waiting for everybody…");
  const again = make("button", { id: "again", hidden: true, onclick: () => send({ type: "again" }) },
    "Play again");
  const words = make("input", { type: "text", id: "words", placeholder: "in words", maxLength: 2000,
    "aria-label": "your answer in words" });
  const speech = make("input", { type: "text", id: "say", placeholder: "say with your next move",
    maxLength: 200, "aria-label": "what you say" });
  const answers = make("form", { className: "row", onsubmit: (event) => {
    event.preventDefault();
    if (words.value.trim()) { answer(words.value); words.value = ""; }
  } }, words, make("button", { type: "submit" }, "Send"));
  let keys = new Map();
  let offered = [];
  let welcome = null;

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

  const handlers = {
    welcome(message) {
      welcome = message;
      where.textContent = `${message.game}${message.agent ? ", you are " + message.agent : ""}`;
      rules.textContent = message.rules;
      answers.hidden = !message.agent;
      speech.hidden = !(message.agent && message.talk);
      const others = JSON.parse(sessionStorage.getItem(`invite ${id}`) || "[]");
      invitations.replaceChildren(...others.map((other) => {
        const link = new URL(address(location.pathname), location.href);
        link.hash = `#/play/${id}/${other.token}`;
        return make("p", { className: "link" }, `Invite ${other.agent}: `,
          make("a", { href: link.href, className: "invite" }, link.href));
      }));
    },
    seats(message) {
      seats.replaceChildren(...message.seats.map((one) =>
        make("li", { className: one.here ? "" : "away" },
          `${one.agent}: ${one.seat}${one.here ? "" : " (not here)"}`)));
    },
    view(message) {
      const spoken = message.texts
        ? Object.entries(message.texts).map(([agent, said]) => `${agent}:\n${said}`).join("\n\n")
        : message.text;
      text.textContent = spoken;
      const told = message.did
        ? message.did.map((one) => `${one.agent} (${one.seat}): ${one.words}`
            + (one.said && !one.words.includes(one.said) ? `  says "${one.said}"` : "")
            + (one.refused ? `  refused: ${one.refused}` : ""))
        : message.heard.map(([sender, said]) => `${sender} says: ${said}`);
      heard.replaceChildren(...told.map((line) => make("p", { className: "faded" }, line)));
      status.textContent = message.over ? "The game is over." : `Step ${message.step}`
        + (message.to_move ? ": your move" : "");
      if (message.reward !== undefined) status.textContent += `. Your reward: ${+message.reward.toFixed(3)}`;
      again.hidden = !message.over;
      offered = message.choices || [];
      keys = bind(offered, welcome ? welcome.keys : {});
      const named = new Map([...keys].map(([key, at]) => [at, key]));
      choices.replaceChildren(...offered.map((choice, at) =>
        make("button", { type: "button", disabled: !message.to_move, onclick: () => pick(choice) },
          named.has(at) ? make("kbd", {}, named.get(at)) : null, choice.text,
          choice.effect ? make("small", {}, choice.effect) : null)));
    },
    refused(message) { refused.textContent = message.reason; },
    failed(message) { status.textContent = message.reason; again.hidden = false; },
  };
  connection.addEventListener("message", (event) => {
    if (event.data instanceof Blob) {
      const before = picture.src;
      picture.src = URL.createObjectURL(event.data);
      if (before) URL.revokeObjectURL(before);
      return;
    }
    const message = JSON.parse(event.data);
    if (handlers[message.type]) handlers[message.type](message);
  });
  let gone = false;
  connection.addEventListener("close", () => {
    if (!gone && status.textContent !== "there is no such table or seat")
      status.textContent = "The connection is lost; reload the page to take your seat again.";
  });
  const typed = (event) => {
    if (event.target instanceof HTMLInputElement || event.ctrlKey || event.metaKey || event.altKey) return;
    const at = keys.get(ARROWS[event.key] || event.key) ?? keys.get(event.key);
    if (at === undefined || !offered[at]) return;
    event.preventDefault();
    pick(offered[at]);
  };
  document.addEventListener("keydown", typed);
  leave = () => { gone = true; document.removeEventListener("keydown", typed); connection.close(); };

  const invitations = make("div", { id: "invitations" });
  show(
    seats, invitations,
    make("div", { className: "table" },
      make("div", {}, picture, status, choices, answers, speech, refused, again),
      make("div", {}, text, heard,
        make("details", {}, make("summary", {}, "Rules"), rules))),
  );
}

// ---- records -------------------------------------------------------------------------------

function replay(record, episode, first) {
  where.textContent = `record ${record}, episode ${episode}`;
  const picture = make("img", { alt: "the state" });
  const text = make("pre", { id: "text" });
  const did = make("div", { id: "did" });
  const status = make("p", { id: "status" });
  const slider = make("input", { type: "range", min: 0, max: 0, value: first, id: "slider",
    "aria-label": "moment" });
  const speed = make("select", { "aria-label": "speed" },
    ...[0.5, 1, 2, 4, 10].map((s) => make("option", { value: s, selected: s === 1 }, `${s} ×`)));
  const playing = make("button", { id: "playing" }, "Play");
  let at = first, moments = first + 1, pace = 6, marks = [], timer = 0, waiting = false;

  const connection = socket("replay", {});
  const go = (moment) => {
    at = Math.min(Math.max(moment, 0), Math.max(moments - 1, 0));
    if (connection.readyState !== WebSocket.OPEN || waiting) return;
    waiting = true;
    connection.send(JSON.stringify({ type: "moment", record, episode, moment: at }));
  };
  const stop = () => { clearTimeout(timer); timer = 0; playing.textContent = "Play"; };
  const tick = () => {
    if (at >= moments - 1) return stop();
    go(at + 1);
    timer = setTimeout(tick, 1000 / (pace * Number(speed.value)));
  };
  playing.addEventListener("click", () => {
    if (timer) return stop();
    if (at >= moments - 1) at = -1;
    playing.textContent = "Pause";
    tick();
  });
  slider.addEventListener("input", () => { stop(); go(Number(slider.value)); });
  const jump = (forward) => {
    stop();
    const to = forward ? marks.find((mark) => mark > at) : marks.filter((mark) => mark < at).pop();
    if (to !== undefined) go(to);
  };
  connection.addEventListener("open", () => {
    go(first);
    connection.send(JSON.stringify({ type: "marks", record, episode, moment: 0 }));
  });
  connection.addEventListener("message", (event) => {
    if (event.data instanceof Blob) {
      const before = picture.src;
      picture.src = URL.createObjectURL(event.data);
      if (before) URL.revokeObjectURL(before);
      waiting = false;
      if (Number(slider.value) !== at) go(at); // moved on while this one was drawn
      return;
    }
    const message = JSON.parse(event.data);
    if (message.type === "marks") { marks = message.moments; return; }
    if (message.type === "failed") { waiting = false; status.textContent = message.reason; return; }
    ({ moments, pace } = message);
    slider.max = moments - 1;
    slider.value = message.moment;
    history.replaceState(null, "", `#/record/${record}/${episode}/${message.moment}`);
    status.textContent = `Moment ${message.moment} of ${moments - 1}. `
      + Object.entries(message.rewards).map(([agent, r]) => `${agent} ${+r.toFixed(3)}`).join(", ");
    text.textContent = Object.entries(message.texts)
      .map(([agent, said]) => `${agent}:\n${said}`).join("\n\n");
    did.replaceChildren(...message.did.map((one) => make("p", {},
      `${one.agent} (${one.seat}): ${one.words}`
        + (one.said && !one.words.includes(one.said) ? `  says "${one.said}"` : ""),
      one.refused ? make("span", { className: "refused" }, ` refused: ${one.refused}`) : null)));
  });
  leave = () => { stop(); connection.close(); };
  show(
    make("div", { className: "table" },
      make("div", {}, picture, slider,
        make("div", { className: "row" }, playing, speed,
          make("button", { onclick: () => { stop(); go(at - 1); } }, "◂ step"),
          make("button", { onclick: () => { stop(); go(at + 1); } }, "step ▸"),
          make("button", { onclick: () => jump(false) }, "◂ event"),
          make("button", { id: "event", onclick: () => jump(true) }, "event ▸")),
        status, did),
      make("div", {}, text)),
  );
}

// ---- addresses -----------------------------------------------------------------------------

function route() {
  leave();
  leave = () => {};
  const [, page, ...rest] = location.hash.split("/");
  if (page === "play" && rest.length === 2) table(rest[0], rest[1]);
  else if (page === "record" && rest.length >= 2)
    replay(Number(rest[0]), Number(rest[1]), Number(rest[2] || 0));
  else home();
}

window.addEventListener("hashchange", route);
route();
