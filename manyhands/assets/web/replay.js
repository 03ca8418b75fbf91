// A record, moment by moment.

import { Screen, make, show, socket, title } from "./base.js";

/** The page of an episode, from a moment on; gives what ends it. */
export function replay(record, episode, first) {
  title(`record ${record}, episode ${episode}`);
  const screen = new Screen("the state");
  const text = make("pre", { id: "text" });
  const did = make("div", { id: "did" });
  const status = make("p", { id: "status" }, "The record is read…");
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
      screen.paint(event.data);
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
  show(
    make("div", { className: "table" },
      make("div", {}, screen.element, slider,
        make("div", { className: "row" }, playing, speed,
          make("button", { onclick: () => { stop(); go(at - 1); } }, "◂ step"),
          make("button", { onclick: () => { stop(); go(at + 1); } }, "step ▸"),
          make("button", { onclick: () => jump(false) }, "◂ event"),
          make("button", { id: "event", onclick: () => jump(true) }, "event ▸")),
        status, did),
      make("div", {}, text)),
  );
  return () => { stop(); connection.close(); };
}
