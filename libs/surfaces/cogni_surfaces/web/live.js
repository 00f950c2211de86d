// Text while it streams, as it will look: the server's rendering then takes its place without a jump. Nodes alone, no HTML.

import { el, scrolling } from "./dom.js";
import { t } from "./texts.js";

/** Sources and widgets, also in look-alike characters, which nothing issues. */
export const PLACES = /(\[\[[A-Z]{1,16}:[a-z][1-9][0-9]{0,8}\]\]|\[s[1-9][0-9]{0,8}\])/;

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const HEADING = /^ {0,3}(#{1,6})(?:[ \t]+|$)/;
const RULE = /^ {0,3}(?:(?:\* *){3,}|(?:- *){3,}|(?:_ *){3,})$/;
const ITEM = /^( {0,3})([-*+]|[0-9]{1,9}[.)])(?: {1,4}|$)/;
const UNDERLINE = /^ {0,3}(?:=+|-+) *$/;
const COLUMNS = /^ {0,3}\|?(?: *:?-+:? *\|)+(?: *:?-+:? *)?$/;
const UNTOLD = /^[\s\-=*+#>|`~:]*(?:[0-9]{1,9}[.)]?)?$/; // the beginning of a line that does not say yet what it is

const INLINE = new RegExp(
  [
    "\\\\([!-/:-@[-`{-~])", // 1 escaped
    "(`+)(?!`)", // 2 code
    "( {2,}|\\\\)\\n", // 3 break
    "\\[([^\\[\\]\\n]*)\\]\\(<?([^()\\s<>]*)>?(?: +\"[^\"\\n]*\")?\\)", // 4, 5 link
    PLACES.source, // 6
    "(\\*\\*|__|~~|\\*|_)", // 7 mark
  ].join("|"),
  "g",
);
const MARKS = { "**": "strong", __: "strong", "*": "em", _: "em", "~~": "s" };

/** Shows a text that grows in `root`. `place(text)` returns what stands for a source or widget, null where nothing does. */
export class LiveText {
  constructor(root, place) {
    Object.assign(this, { root, place, tail: "", shown: [] });
  }

  /** Show the text so far; finished blocks are not touched again, however long the answer grows. */
  add(text) {
    this.tail += text;
    const blocks = blocksOf(this.tail.split("\n"), true);
    const open = blocks.pop();
    for (const block of blocks) this.show(block, true);
    if (blocks.length) this.tail = open.lines.join("\n");
    this.show(open, false);
  }

  show(block, whole) {
    const made = block && rendered(block, this.place, whole);
    for (const old of this.shown) old.remove();
    this.shown = [];
    if (!made) return;
    const node = made.localName === "table" ? scrolling(made, t("table")) : made;
    node.classList.add("live");
    node.setAttribute("dir", "auto");
    this.root.append(node);
    if (!whole) this.shown = [node];
  }
}

/** Return blocks of lines, as CommonMark parts them; of a text that is `growing` the last one is open, and its last line too. */
function blocksOf(lines, growing) {
  const blocks = [];
  let block = null;
  const begin = (kind, line) => blocks.push((block = { kind, lines: [line] }));
  lines.forEach((line, n) => {
    const told = !growing || n < lines.length - 1;
    if (block?.kind === "fence") {
      block.lines.push(line);
      if (told && closes(block, line)) block = null;
      return;
    }
    const kind = told || !UNTOLD.test(line) ? kindOf(line, block) : "more";
    if (kind === "blank") block = null;
    else if (kind === "more") block ? block.lines.push(line) : begin("p", line);
    else if (kind === "underlined") Object.assign(block, { kind }).lines.push(line);
    else if (kind === "table") {
      const head = block.lines.pop();
      if (!block.lines.length) blocks.pop();
      begin("table", head);
      block.lines.push(line);
    } else begin(kind, line);
    if (told && ["heading", "hr", "underlined"].includes(block?.kind)) block = null;
  });
  if (growing && !block) begin("p", "");
  return blocks;
}

/** Return what a line begins, or `more` of the block before it. */
function kindOf(line, block) {
  const [blank, inList] = [!line.trim(), block?.kind === "list"];
  if (inList && (blank || /^ {2,}\S/.test(line) || sameList(block, line))) return "more";
  if (blank) return "blank";
  if (FENCE.test(line)) return "fence";
  if (HEADING.test(line)) return "heading";
  if (block?.kind === "p" && UNDERLINE.test(line)) return "underlined";
  if (RULE.test(line)) return "hr";
  if (/^ {0,3}>/.test(line)) return block?.kind === "quote" ? "more" : "quote";
  if (beginsList(line, block)) return "list";
  if (block?.kind === "p" && COLUMNS.test(line) && block.lines.at(-1).includes("|")) return "table";
  return block && (!inList || block.lines.at(-1).trim()) ? "more" : "p";
}

function closes({ lines }, line) {
  const sign = FENCE.exec(lines[0])[1];
  return line.trim().startsWith(sign) && !line.trim().replaceAll(sign[0], "");
}

const ordered = (line) => /[0-9]/.test(ITEM.exec(line)?.[2] ?? "");
const sameList = (block, line) => ITEM.test(line) && !RULE.test(line) && ordered(line) === ordered(block.lines[0]);

/** A list may follow a paragraph without a blank line only where its first item says something, and counts from 1. */
function beginsList(line, block) {
  const [marker, , sign] = ITEM.exec(line) ?? [];
  if (!marker) return false;
  return block?.kind !== "p" || (line.length > marker.length && (!/[0-9]/.test(sign) || /^1[.)]$/.test(sign)));
}

/** Return the node of a block; one that is not `whole` shows nothing of a last line that does not say yet what it is. */
function rendered({ kind, lines }, place, whole) {
  if (!whole && kind !== "fence" && UNTOLD.test(lines.at(-1))) lines = lines.slice(0, -1);
  const text = (some) => inline(some.map((line) => line.trimStart()).join("\n").trimEnd(), place, whole);
  if (kind === "p" && !whole && lines.at(-1)?.trimStart().startsWith("|")) lines = lines.slice(0, -1); // a table's head, perhaps
  if (!lines.length || (kind === "p" && !lines.join("").trim())) return null;
  if (kind === "fence") return el("pre", {}, el("code", { text: fenced(lines, whole) }));
  if (kind === "hr") return el("hr");
  if (kind === "heading") return el(`h${HEADING.exec(lines[0])[1].length}`, {}, text([lines[0].replace(HEADING, "").replace(/\s#+\s*$/, "")]));
  if (kind === "underlined") return el(lines.at(-1).includes("=") ? "h1" : "h2", {}, text(lines.slice(0, -1)));
  if (kind === "quote") return el("blockquote", {}, ...within(lines.map((line) => line.replace(/^ {0,3}> ?/, "")), place, whole));
  if (kind === "list") return list(lines, place, whole);
  if (kind === "table" && lines.length > 1) return tabular(lines, place, whole);
  return el("p", {}, text(lines));
}

const within = (lines, place, whole) => {
  const blocks = blocksOf(lines, !whole);
  return blocks.map((block, n) => rendered(block, place, whole || n < blocks.length - 1)).filter(Boolean);
};

function fenced(lines, whole) {
  const sign = FENCE.exec(lines[0])[1];
  const body = lines.slice(1);
  if (body.length && body.at(-1).trim().startsWith(sign)) body.pop();
  else if (!whole && body.length && UNTOLD.test(body.at(-1))) body.pop();
  return body.length ? `${body.join("\n")}\n` : "";
}

function list(lines, place, whole) {
  const items = [];
  const indent = () => items.at(-1)?.indent ?? 2;
  for (const line of lines) {
    const marker = ITEM.exec(line);
    if (marker && (!items.length || marker[1].length < indent())) items.push({ indent: marker[0].length, lines: [line.slice(marker[0].length)] });
    else items.at(-1).lines.push(line.slice(Math.min(/^ */.exec(line)[0].length, indent())));
  }
  const made = items.map(({ lines: own }, n) => {
    const blocks = within(own, place, whole || n < items.length - 1);
    const wide = blocks.filter((block) => block.localName === "p").length > 1;
    return el("li", {}, ...blocks.flatMap((block) => (block.localName === "p" && !wide ? [...block.childNodes] : [block])));
  });
  return el(ordered(lines[0]) ? "ol" : "ul", {}, ...made);
}

function tabular(lines, place, whole) {
  const cells = (line) => line.trim().replace(/^\||(?<!\\)\|$/g, "").split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
  const head = cells(lines[0]);
  const row = (found, tag) => el("tr", {}, ...head.map((_, n) => el(tag, {}, inline(found[n] ?? "", place, whole))));
  return el("table", {}, el("thead", {}, row(head, "th")), el("tbody", {}, ...lines.slice(2).map((line) => row(cells(line), "td"))));
}

/** Return running text as nodes; a mark that is open in what still grows is taken as closed. */
function inline(text, place, whole) {
  const root = document.createDocumentFragment();
  const open = [{ node: root }];
  const put = (...nodes) => open.at(-1).node.append(...nodes);
  const pattern = new RegExp(INLINE);
  let at = 0;
  for (let found; (found = pattern.exec(text)); ) {
    put(known(text.slice(at, found.index)));
    at = pattern.lastIndex;
    const [all, escaped, ticks, broken, label, address, marker, mark] = found;
    if (escaped) put(escaped);
    else if (broken !== undefined) put(el("br"));
    else if (marker) put(place(marker) ?? "");
    else if (label !== undefined) put(inline(label, place, true), label === address ? "" : ` (${address})`);
    else if (mark) at = pattern.lastIndex = found.index + marked(text, found.index, mark, open);
    else {
      const rest = text.slice(at);
      const end = new RegExp(`(?<!\`)${ticks}(?!\`)`).exec(rest)?.index ?? (whole ? -1 : rest.length);
      if (end < 0) put(all);
      else {
        put(el("code", { text: rest.slice(0, end).replaceAll("\n", " ").replace(/^ (.*[^ ].*) $/, "$1") }));
        at = pattern.lastIndex = Math.min(text.length, at + end + ticks.length);
      }
    }
  }
  put(known(text.slice(at)));
  for (const { node, mark } of open.slice(1).reverse()) if (whole || !node.textContent) unmark(node, whole ? mark : "");
  return root;
}

/** Open or close a mark; return how many characters it took. */
function marked(text, at, mark, open) {
  if (mark === "**" && text[at + 2] === "*" && open.at(-1).mark !== "**") mark = "*"; // of three, the single one is outside
  const [before, after] = [text[at - 1] ?? " ", text[at + mark.length] ?? "x"];
  const word = (char) => mark.includes("_") && /[\p{L}\p{N}]/u.test(char);
  const from = open.findLastIndex((each) => each.mark === mark);
  if (from > 0 && !/\s/.test(before) && !(word(after) && at + mark.length < text.length)) {
    for (const { node, mark: inner } of open.splice(from).slice(1).reverse()) unmark(node, inner);
  } else if (!/\s/.test(after) && !word(before)) {
    const node = el(MARKS[mark]);
    open.at(-1).node.append(node);
    open.push({ node, mark });
  } else open.at(-1).node.append(mark);
  return mark.length;
}

const unmark = (node, mark) => node.replaceWith(mark, ...node.childNodes);

const ENTITY = /&(?:#[0-9]{1,7}|#x[0-9a-f]{1,6}|[a-z][a-z0-9]{1,31});/gi;
const LOOKS_ALIKE = /[[［]{1,2}[^[\]［］\n]{2,40}[\]］]{1,2}/g;

/** Text with the signs that an entity stands for, without what only looks like a source or widget. */
const known = (text) =>
  text.replace(ENTITY, decoded).replace(LOOKS_ALIKE, (piece) => (PLACES.test(folded(piece)) && folded(piece) !== piece ? "" : piece));
const decoded = (entity) => new DOMParser().parseFromString(entity, "text/html").body.textContent;
const folded = (text) => text.normalize("NFKC");
