// What stands in place of a marker: a picture with its data, or a table, timeline, plan, report or highlight.

import { byId, el, fromServer, scrolling, table } from "./dom.js";
import { t } from "./texts.js";

const BESIDE_PX = 58; // of the log, left and right of a widget's content
const MOST_PX = 760;

/**
 * Return the widget's place; it fills itself. `issued`: what the marker's delta carried, for when the picture fails;
 * `chip(handle)`: the button that opens a source of the answer, null where it has none of that handle.
 */
export function widget(api, run, ref, issued, chip) {
  const place = el("div", { class: "widget", "data-ref": ref, "aria-busy": "true" }, el("span", { class: "fine", text: t("loading") }));
  fill(place, { api, run, ref, issued, chip });
  return place;
}

async function fill(place, of) {
  let shown;
  try {
    const found = await of.api.get(`/v1/runs/${of.run}/widgets/${of.ref}${room()}`);
    shown = found.state === "ready" ? ready(found, of.chip) : explained(found.state === "evicted" ? "widgetGone" : "widgetNever");
  } catch (error) {
    shown = fromPayload(of.issued) ?? explained(error.status === 404 ? "widgetGone" : "widgetFailed");
    if (error.status !== 404) shown.append(again(() => fill(place, of)));
  }
  place.replaceChildren(shown);
  place.removeAttribute("aria-busy");
}

/** How wide a picture can be here; nothing while the frame is not shown. */
function room() {
  const width = Math.min(byId("log").clientWidth, MOST_PX) - BESIDE_PX;
  return width > 0 ? `?width=${width}` : "";
}

const again = (onclick) => el("button", { type: "button", text: t("retry"), onclick });
const explained = (name) => el("div", { class: "note" }, el("div", { text: t(name) }));

function ready({ title, svg, table: data, html }, chip = () => null) {
  const figure = el("figure", {}, title ? el("p", { class: "title", dir: "auto", text: title }) : null);
  if (svg) figure.append(picture(svg, title));
  if (data) figure.append(svg ? folded(data) : table(data.columns, data.rows, title || t("table")));
  if (html && !data) figure.append(fragment(html, title, chip));
  return figure;
}

const dark = matchMedia("(prefers-color-scheme: dark)");

function picture(svg, title) {
  const image = el("img", { alt: t("chart", { title: title ?? "" }) });
  const draw = () => {
    const address = URL.createObjectURL(new Blob([painted(svg)], { type: "image/svg+xml" }));
    image.addEventListener("load", () => URL.revokeObjectURL(address), { once: true });
    image.src = address;
  };
  draw();
  dark.addEventListener("change", draw);
  return image;
}

/** Put this frame's colours in place of their names: what a picture shows, nothing outside it reaches. */
function painted(svg) {
  const theme = getComputedStyle(document.documentElement);
  return svg.replace(/var\((--[a-z0-9-]+), (#[0-9a-f]{6})\)/g, (_, name, own) => {
    const colour = theme.getPropertyValue(name).trim();
    return /^[\w#%(),. -]+$/.test(colour) ? colour : own;
  });
}

function folded({ columns, rows }) {
  return el("details", {}, el("summary", { text: t("data") }), table(columns, rows, t("data")));
}

function fragment(html, title, chip) {
  const made = el("div", { class: "answer", dir: "auto" });
  made.append(fromServer(html));
  for (const mark of made.querySelectorAll("sup.source")) {
    const button = chip(mark.dataset.handle);
    if (button) mark.replaceChildren(button);
    else mark.remove();
  }
  framed(made, title);
  return made;
}

/** Put every table of an answer into a frame that scrolls. */
export function framed(made, label) {
  for (const wide of made.querySelectorAll("table")) {
    const holder = document.createElement("div");
    wide.replaceWith(holder);
    holder.replaceWith(scrolling(wide, label || t("table")));
  }
}

function fromPayload(issued) {
  const { kind, payload } = issued ?? {};
  if (kind === "TABLE") return ready({ title: payload.title, table: payload });
  if (kind !== "CHART") return null;
  const columns = [payload.unit ?? "", ...payload.series.map((series) => series.name)];
  const rows = payload.labels.map((label, n) => [label, ...payload.series.map((series) => series.values[n])]);
  return ready({ title: payload.title, table: { columns, rows } });
}
