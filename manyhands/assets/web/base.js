// What all pages share. What games and players say is only ever set as text, never as markup.

const main = document.getElementById("main");
const where = document.getElementById("where");
export const TOKEN = new URLSearchParams(location.search).get("token") || "";

/** An element with properties and children; strings become text. */
export function make(name, properties = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key in element) element[key] = value;
    else element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export function show(...children) {
  main.replaceChildren(...children);
}

/** What stands beside the name at the top. */
export function title(words) {
  where.textContent = words;
}

/** The address of something on this server, with the token. */
export function address(path, parameters = {}) {
  const query = new URLSearchParams(parameters);
  if (TOKEN) query.set("token", TOKEN);
  const words = query.toString();
  return path + (words ? "?" + words : "");
}

export function socket(path, parameters) {
  const url = new URL(address(path, parameters), location.href);
  url.protocol = location.protocol === "https:" ? "wss:" : "ws:";
  const opened = new WebSocket(url);
  opened.binaryType = "blob";
  return opened;
}

export async function ask(path, options) {
  const answer = await fetch(address(path), options);
  const found = await answer.json();
  if (!answer.ok) throw new Error(found.error || answer.statusText);
  return found;
}

/** What the server answers to an object. */
export function post(path, body) {
  return ask(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
}

/** Pictures that come over a socket, on a canvas: each after the one before it. */
export class Screen {
  constructor(label) {
    this.element = make("canvas", { className: "picture", width: 640, height: 480, role: "img",
      "aria-label": label });
    this.last = Promise.resolve();
  }

  /** Paint a picture: all of it, or the parts of `boxes`: left, top, width, height, bytes. */
  paint(blob, boxes = null) {
    let at = 0;
    const parts = (boxes || [[0, 0, 0, 0, blob.size]]).map(([left, top, , , size]) => {
      const image = createImageBitmap(blob.slice(at, at += size));
      return { left, top, image };
    });
    this.last = this.last.then(async () => {
      for (const { left, top, image } of parts) {
        const drawn = await image;
        if (!boxes && (this.element.width !== drawn.width || this.element.height !== drawn.height)) {
          this.element.width = drawn.width;
          this.element.height = drawn.height;
        }
        this.element.getContext("2d").drawImage(drawn, left, top);
        drawn.close();
      }
      this.element.dataset.pictures = Number(this.element.dataset.pictures || 0) + 1;
    });
  }
}

/** Paragraphs of a longer text. */
export function paragraphs(text) {
  return text.split(/\n\s*\n/).filter(Boolean).map((one) => make("p", { className: "prose" }, one));
}
