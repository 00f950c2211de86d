// What stands in place of a marker: a picture with its data, or a table, timeline, plan, report or highlight.

import { el, fromServer, scrolling, table } from "./dom.js";
import { t } from "./texts.js";

/** Return the widget's place; it fills itself. `issued`: what the marker's delta carried, for when the picture fails. */
export function widget(api, run, ref, issued) {
  const place = el("div", { class: "widget", "data-ref": ref, "aria-busy": "true" }, el("span", { class: "fine", text: t("loading") }));
  fill(place, api, run, ref, issued);
  return place;
}

async function fill(place, api, run, ref, issued) {
  let shown;
  try {
    const found = await api.get(`/v1/runs/${run}/widgets/${ref}`);
    shown = found.state === "ready" ? ready(found) : explained(found.state === "evicted" ? "widgetGone" : "widgetNever");
  } catch (error) {
    shown = fromPayload(issued) ?? explained(error.status === 404 ? "widgetGone" : "widgetFailed");
    if (error.status !== 404) shown.append(again(() => fill(place, api, run, ref, issued)));
  }
  place.replaceChildren(shown);
  place.removeAttribute("aria-busy");
}

const again = (onclick) => el("button", { type: "button", text: t("retry"), onclick });
const explained = (name) => el("div", { class: "note" }, el("div", { text: t(name) }));

function ready({ title, svg, table: data, html }) {
  const figure = el("figure", {}, title ? el("p", { class: "title", dir: "auto", text: title }) : null);
  if (svg) figure.append(picture(svg, title));
  if (data) figure.append(svg ? folded(data) : table(data.columns, data.rows, title || t("table")));
  if (html && !data) figure.append(fragment(html, title));
  return figure;
}

function picture(svg, title) {
  const address = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  const image = el("img", { alt: t("chart", { title: title ?? "" }), src: address });
  image.addEventListener("load", () => URL.revokeObjectURL(address), { once: true });
  return image;
}

function folded({ columns, rows }) {
  return el("details", {}, el("summary", { text: t("data") }), table(columns, rows, t("data")));
}

function fragment(html, title) {
  const made = el("div", { class: "answer", dir: "auto" });
  made.append(fromServer(html));
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
