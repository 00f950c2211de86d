// What a tool did, from its bounded echo: never the model's copy of the result.

import { el, icon, scrolling } from "./dom.js";
import { named, t } from "./texts.js";

const PLACE = new Set(["path", "file", "range", "start_line", "end_line"]); // a file's place stands above its content

/** Return the card of one completed call. */
export function toolCard({ name, arguments: given, execution_time: seconds, result }) {
  const args = given ?? {};
  const path = text(args.path ?? args.file);
  const head = el(
    "summary",
    {},
    icon("check"),
    el("span", { text: named(name) }),
    el("span", { class: "sub", dir: "auto", text: subtitle(args, path) }),
    el("span", { class: "sub-time", text: t("took", { n: Number(seconds ?? 0).toFixed(1) }) }),
  );
  return el("details", { class: "card", "data-tool": name }, head, el("div", {}, ...details(name, args, path, result)));
}

/** The last component of a path, as the file's name; else the first short argument; else nothing. */
function subtitle(args, path) {
  if (path) return path.split(/[\\/]/).filter(Boolean).pop() ?? "";
  const short = Object.values(args).find((value) => typeof value === "string" && value);
  return short ?? "";
}

function details(name, args, path, echo) {
  const result = withStatistics(echo) ?? echo;
  const structured = typeof result === "object" && result !== null && !Array.isArray(result);
  const isFile = structured && "content" in result;
  const parts = [listed(isFile ? Object.fromEntries(Object.entries(args).filter(([key]) => !PLACE.has(key))) : args)];
  if (structured && result.error) parts.push(el("p", { dir: "auto", text: text(result.error) }));
  const statistics = structured ? patched(result) : null;
  if (statistics) parts.push(el("p", { text: statistics }));
  if (isFile) parts.push(...file(args, path, result));
  else if (structured && !statistics && !result.error) parts.push(block(JSON.stringify(result, null, 2)));
  else if (!structured && result !== null && result !== undefined) parts.push(block(readable(text(result))));
  return parts.filter(Boolean);
}

function file(args, path, result) {
  const range = rangeOf(result.range ?? args.range, args);
  const where = [path || text(result.path), range ? t("lines", { range }) : ""].filter(Boolean).join(" · ");
  return [
    where ? el("p", { class: "sub", dir: "auto", text: where }) : null,
    block(text(result.content)),
    result.content_cut_after_bytes ? el("p", { class: "fine", text: t("cut") }) : null,
  ];
}

function rangeOf(range, { start_line: first, end_line: last }) {
  if (Array.isArray(range)) return range.join("–");
  if (typeof range === "object" && range !== null) return Object.values(range).join("–");
  if (range) return text(range);
  return first ? [first, last].filter(Boolean).join("–") : "";
}

/** Return a patch's statistics as one line, null where there are none. */
function patched(result) {
  const found = result.stats ?? result.diff_statistics ?? result.diff ?? result;
  const added = found?.added ?? found?.additions ?? found?.insertions;
  const removed = found?.removed ?? found?.deletions;
  if (typeof added !== "number" && typeof removed !== "number") return null;
  return t("patched", { added: added ?? 0, removed: removed ?? 0 });
}

/** Return an echo that came as text, as the patch's result that it spells; null for any other. */
function withStatistics(echo) {
  if (typeof echo !== "string" || !echo.startsWith("{")) return null;
  try {
    const result = JSON.parse(echo);
    return patched(result) ? result : null;
  } catch {
    return null;
  }
}

const block = (shown) =>
  shown === "" ? el("p", { class: "fine", text: t("empty") }) : scrolling(el("pre", { dir: "auto", text: shown }), t("result"));

/** Set JSON out in lines; any other text stays as it is. */
function readable(shown) {
  if (!/^[[{]/.test(shown)) return shown;
  try {
    return JSON.stringify(JSON.parse(shown), null, 2);
  } catch {
    return shown;
  }
}

/** Return every argument with its value. */
export function listed(args) {
  const rows = Object.entries(args);
  if (!rows.length) return null;
  const made = el("dl", {});
  for (const [name, value] of rows) {
    made.append(el("dt", { text: named(name) }), el("dd", { dir: "auto", text: text(value) }));
  }
  return made;
}

function text(value) {
  if (value === null || value === undefined) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
