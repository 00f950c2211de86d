// Building what is on the screen. Text is always text; HTML comes from the server alone, and only in the forms named here.

export const byId = (id) => document.getElementById(id);

/** Return an element. `props`: class, text, on<event>, or any attribute; false and null leave one out. */
export function el(tag, props = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "text") made.textContent = value;
    else if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

export function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
  svg.setAttribute("aria-hidden", "true");
  use.setAttribute("href", `#i-${name}`);
  svg.append(use);
  return svg;
}

export const iconButton = (name, label, onclick, more = {}) =>
  el("button", { class: "icon", type: "button", "aria-label": label, title: label, onclick, ...more }, icon(name));

const TAGS = new Set(
  ("p br hr em strong s code pre blockquote ul ol li h1 h2 h3 h4 h5 h6 table caption thead tbody tr th td div span sup bdi time " +
    "dl dt dd figure figcaption section article b i small").split(" "),
);
const ATTRIBUTES = new Set("class dir lang datetime data-handle data-kind data-ref scope colspan rowspan start".split(" "));
const DROPPED = new Set("script style template iframe object embed svg math noscript head link meta title".split(" "));

/** Return the server's HTML as nodes: named tags and attributes alone, so that nothing in it can fetch, run or style. */
export function fromServer(html) {
  const parsed = new DOMParser().parseFromString(String(html ?? ""), "text/html");
  const into = document.createDocumentFragment();
  copyInto(into, parsed.body);
  return into;
}

function copyInto(target, source) {
  for (const node of source.childNodes) {
    if (node.nodeType === Node.TEXT_NODE) target.append(node.data);
    if (node.nodeType !== Node.ELEMENT_NODE) continue;
    const tag = node.localName;
    if (DROPPED.has(tag)) continue;
    if (!TAGS.has(tag)) {
      copyInto(target, node);
      continue;
    }
    const copy = document.createElement(tag);
    for (const { name, value } of node.attributes) if (ATTRIBUTES.has(name)) copy.setAttribute(name, value);
    copyInto(copy, node);
    target.append(copy);
  }
}

/** Return a table that scrolls in a frame of its own; figures stand at the end of their cells. */
export function table(columns, rows, label) {
  const cells = (row) =>
    row.map((cell) => el("td", { class: typeof cell === "number" ? "number" : null, dir: "auto", text: cell ?? "–" }));
  const head = columns.map((name) => el("th", { scope: "col", dir: "auto", text: name }));
  const body = rows.map((row) => el("tr", {}, ...cells(row)));
  const made = el("table", {}, el("thead", {}, el("tr", {}, ...head)), el("tbody", {}, ...body));
  return scrolling(made, label);
}

/** Wide content scrolls in itself, by keyboard too. */
export const scrolling = (made, label) =>
  el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, made);
