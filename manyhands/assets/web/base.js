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

/** Show a picture that came over a socket. */
export function paint(picture, blob) {
  const before = picture.src;
  picture.src = URL.createObjectURL(blob);
  if (before) URL.revokeObjectURL(before);
}

/** Paragraphs of a longer text. */
export function paragraphs(text) {
  return text.split(/\n\s*\n/).filter(Boolean).map((one) => make("p", { className: "prose" }, one));
}
