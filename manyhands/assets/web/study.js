// The pages of a study: what a participant reads, plays and is asked, one after the other.

import { make, paragraphs, post, show, title } from "./base.js";
import { table } from "./table.js";

const POLL = 1000; // ms between two questions whether others have come

/** Take part in a study; gives what ends the page. */
export function study(about) {
  // The id that a recruiting site has for the person, if the study asks for it.
  const external = about.external ? new URLSearchParams(location.search).get(about.external) : null;
  const key = `manyhands study ${about.name}${external ? " " + external : ""}`;
  let game = null; // the table that is on the page
  let timer = 0;
  let token = localStorage.getItem(key);

  const clear = () => {
    clearTimeout(timer);
    if (game) game.close();
    game = null;
  };
  const failed = make("p", { className: "refused", role: "alert", id: "refused" });
  const fail = (error) => { failed.textContent = error.message; };

  async function begin() {
    try {
      if (token) {
        try { return display(await post("study", { participant: token })); }
        catch (error) { if (!error.message.includes("no such participant")) throw error; }
      }
      token = (await post("study", { external })).participant;
      localStorage.setItem(key, token);
      display(await post("study", { participant: token }));
    } catch (error) {
      show(make("h1", {}, about.title), make("p", { className: "refused", role: "alert" }, error.message));
    }
  }

  async function next(page, answers = {}) {
    failed.textContent = "";
    try {
      display(await post("study", { participant: token, stage: page.stage, answers }));
    } catch (error) { fail(error); }
  }

  const again = async () => {
    try { display(await post("study", { participant: token })); } catch (error) { fail(error); }
  };

  function display(page) {
    clear();
    failed.textContent = "";
    title(page.title);
    const progress = page.stages
      ? make("progress", { max: page.stages - 1, value: page.stage, "aria-label": "progress" }) : null;
    const go = (words, answers) =>
      make("button", { id: "next", className: "main", onclick: () => next(page, answers) }, words);
    const pages = {
      consent: () => [
        ...paragraphs(page.text),
        make("div", { className: "row" }, go("I consent", { consent: true }),
          make("button", { id: "refuse", onclick: () => next(page, { consent: false }) },
            "I do not consent")),
      ],
      refused: () => {
        localStorage.removeItem(key);
        return [make("p", {}, "You did not consent. Nothing about you was kept; you may close this page.")];
      },
      instructions: () => [...paragraphs(page.text), go("Continue")],
      questions: () => [...paragraphs(page.text || ""), form(page)],
      wait: () => {
        timer = setTimeout(again, POLL);
        return [make("p", { id: "waiting" }, "Waiting for another participant, for at most "
          + `${Math.ceil(page.seconds)} more seconds…`)];
      },
      game: () => play(page, go),
      end: () => [
        ...paragraphs(page.text || "Thank you! Please hand in this code:"),
        make("p", { id: "code", className: "code" }, page.code),
        page.link ? make("p", {}, make("a", { href: page.link, rel: "noreferrer" }, page.link)) : null,
      ],
    };
    show(make("section", { className: page.kind === "game" ? "study game" : "study" },
      progress, page.kind === "game" ? null : make("h1", {}, page.title), ...pages[page.kind](), failed));
    window.scrollTo(0, 0);
  }

  function play(page, go) {
    const heading = page.practice ? "Practice" : `Game ${page.number} of ${page.numbers}`;
    const words = [make("h2", { id: "trial" }, heading), ...paragraphs(page.text || "")];
    if (page.over) return [...words, make("p", {}, "The game is over."), go("Continue")];
    const done = make("div", { className: "row" });
    game = table(page.table, page.seat, {
      ended: () => done.replaceChildren(go("Continue")),
      failed: () => done.replaceChildren(
        make("button", { id: "next", className: "main", onclick: again }, "Try again")),
      lost: () => { timer = setTimeout(again, 3 * POLL); },
    });
    return [...words, done, game.element];
  }

  function form(page) {
    const read = {}; // name -> what gives the answer
    const fields = page.questions.map((question) => {
      const name = question.name;
      const optional = question.required ? "" : " (optional)";
      if (question.kind === "text") {
        const area = make("textarea", { name, rows: 4, maxLength: 5000 });
        read[name] = () => area.value.trim();
        return make("label", { className: "question" }, question.text + optional, area);
      }
      const scale = question.kind === "scale";
      const values = scale
        ? Array.from({ length: question.high - question.low + 1 }, (_, i) => question.low + i)
        : question.options;
      const inputs = values.map((value) =>
        make("input", { type: question.many ? "checkbox" : "radio", name, value: String(value) }));
      read[name] = () => {
        const chosen = values.filter((_, i) => inputs[i].checked);
        return question.many ? chosen : chosen[0];
      };
      const labelled = inputs.map((input, i) => make("label", {}, input, ` ${values[i]}`));
      const [low = "", high = ""] = [question.labels[0], question.labels.at(-1)];
      return make("fieldset", { className: scale ? "question scale" : "question" },
        make("legend", {}, question.text + optional),
        scale && low ? make("span", { className: "faded" }, low) : null, ...labelled,
        scale && high ? make("span", { className: "faded" }, high) : null);
    });
    return make("form", { onsubmit: (event) => {
      event.preventDefault();
      const answers = {};
      for (const [name, value] of Object.entries(read)) {
        const given = value();
        if (given !== undefined && given !== "" && given.length !== 0) answers[name] = given;
      }
      next(page, answers);
    } }, ...fields, make("button", { type: "submit", id: "next", className: "main" }, "Continue"));
  }

  begin();
  return clear;
}
