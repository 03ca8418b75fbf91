// The pages of `manyhands serve`: games to choose, a table, records; or a study. What games and
// players say is only ever set as text, never as markup.

import { address, ask, make, post, show, title } from "./base.js";
import { replay } from "./replay.js";
import { study } from "./study.js";
import { table } from "./table.js";

let leave = () => {}; // ends what the current page does

// ---- the first page ------------------------------------------------------------------------

async function home() {
  title("");
  show(make("p", { className: "faded" }, "Loading…"));
  try {
    const found = await ask("games");
    if (found.study) { leave = study(found.study); return; }
    const { games, person } = found;
    const [{ live }, { records, seasons }] = await Promise.all([ask("live"), ask("records")]);
    show(
      ...(live.length ? [make("h1", {}, "Games that are being played"), liveRows(live)] : []),
      make("h1", {}, "Play"),
      make("div", { className: "games" }, ...games.map((game) => card(game, person))),
      ...(seasons.length ? [make("h1", {}, "Seasons"), seasonRows(seasons)] : []),
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
  const spectators = make("input", { type: "checkbox", name: "spectators" });
  const failed = make("p", { className: "refused", role: "alert" });
  const start = make("button", { type: "submit", className: "main" }, "Start");
  const form = make(
    "form",
    {
      className: "card",
      onsubmit: async (event) => {
        event.preventDefault();
        start.disabled = true;
        failed.textContent = "";
        try {
          const table = await post("tables", {
            game: game.name,
            seats: selects.map((select) => select.value),
            clock: clock.value ? Number(clock.value) : null,
            seed: Number(seed.value),
            spectators: spectators.checked,
          });
          const [own, ...others] = table.seats;
          const links = { invite: others, looks: own ? table.watch : "" };
          sessionStorage.setItem(`links ${table.table}`, JSON.stringify(links));
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
    make("details", {}, make("summary", {}, "More"),
      make("label", {}, "time: ", clock),
      make("label", {}, "seed: ", seed),
      make("label", {}, spectators, " others may look on")),
    failed,
    start,
  );
  return form;
}

function liveRows(live) {
  return make("table", {}, ...live.map((one) =>
    make("tr", {},
      make("td", {}, make("a", { href: `#/play/${one.table}/${one.watch}`, className: "watch" },
        one.game)),
      make("td", {}, Object.entries(one.seats).map(([agent, seat]) => `${agent}: ${seat}`).join(", ")),
      make("td", {}, `step ${one.step}`))));
}

function seasonRows(seasons) {
  return make("table", {}, ...seasons.map((one) =>
    make("tr", {},
      make("td", {}, make("a", { href: address(`season/${one.season}`), className: "season" }, one.name)),
      make("td", {}, one.broken || one.games.join(", ")))));
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

// ---- addresses -----------------------------------------------------------------------------

/** Sit down at a table, or look on. */
function sit(id, seat) {
  title(`table ${id}`);
  const links = JSON.parse(sessionStorage.getItem(`links ${id}`) || "{}");
  const { element, close } = table(id, seat, { ...links, title });
  show(element);
  return close;
}

function route() {
  leave();
  leave = () => {};
  const [, page, ...rest] = location.hash.split("/");
  if (page === "play" && rest.length === 2) leave = sit(rest[0], rest[1]);
  else if (page === "record" && rest.length >= 2)
    leave = replay(Number(rest[0]), Number(rest[1]), Number(rest[2] || 0));
  else home();
}

window.addEventListener("hashchange", route);
route();
