// The frame: puts the parts together, and listens to the person and to the host page.

import { Api } from "./api.js";
import { Attachments } from "./attachments.js";
import { applyBrand } from "./brand.js";
import { VisibleContext } from "./context.js";
import { Conversation } from "./conversation.js";
import { byId, el, icon } from "./dom.js";
import { Host, ownerOf, subjectOf } from "./frame.js";
import { keep, keepFor, kept } from "./kept.js";
import { closePanel, openConversations } from "./panels.js";
import { learn, speak, t } from "./texts.js";

const host = new Host();
const address = new URLSearchParams(location.search);
const surfaceId = address.get("surface_id") ?? "chat";
const message = byId("message");
const api = new Api((refresh) => host.tokenFor(refresh));
const conversation = new Conversation(api, say, withQuestion, running);
const attachments = new Attachments(api, surfaceId, byId("chips"), {
  conversation: () => conversation.id,
  begun: (id) => conversation.begin(id),
  say,
});
const context = new VisibleContext(api, surfaceId, byId("chips"), () => {
  message.focus();
  host.send("cogni:event", { name: "context-removed" });
});
let quiet = 0;
let settling = false;
let begun;
const beginning = new Promise((resolve) => (begun = resolve));

/**
 * Put one line where a screen reader hears it, once; a line that is not `busy` goes after a while. `heard` is one
 * that is not shown: who sees the screen sees as much.
 */
function say(text, busy = false, heard = false) {
  const status = byId("status");
  clearTimeout(quiet);
  status.classList.toggle("busy", busy && text !== "");
  status.classList.toggle("heard", heard);
  if (status.textContent !== text) status.textContent = text;
  if (!busy && text) quiet = setTimeout(() => say(""), 8000);
}

function withQuestion() {
  return { surface_id: surfaceId, ...context.forQuestion() };
}

function running(is) {
  const send = byId("send");
  const name = is ? "stop" : "send";
  send.setAttribute("aria-label", t(name));
  send.title = t(name);
  send.dataset.label = name;
  send.replaceChildren(icon(name));
  host.send("cogni:event", { name: is ? "run-started" : "run-ended" });
}

/** Ask, once it is settled who asks and what goes along; the draft stays until then. */
async function submit() {
  if (conversation.running) return conversation.stop();
  if (settling || !message.value.trim()) return message.focus();
  settling = true;
  await beginning;
  await Promise.all([context.settled(), attachments.adding]);
  settling = false;
  const text = message.value.trim();
  if (!text || conversation.running) return;
  message.value = "";
  keep("draft", null);
  fit();
  message.focus();
  conversation.ask(text);
}

/** Grow with the draft. */
function fit() {
  message.rows = 1;
  const rows = Math.floor((message.scrollHeight - 12) / 24);
  message.rows = Math.max(1, Math.min(8, rows));
}

async function start(init) {
  keepFor(ownerOf(init.token ?? ""));
  api.locale = init.locale || navigator.language;
  speak(api.locale);
  byId("close").hidden = init.placement !== "launcher";
  let found;
  try {
    const { type, token, ...given } = init;
    found = await context.begin({ ...given, key_id: decodeURIComponent(location.pathname.split("/").pop()) });
  } catch (error) {
    return unavailable(error, init);
  }
  if (!init.locale && found.locale) speak((api.locale = found.locale));
  learn(found.names);
  applyBrand(found.brand);
  applyBrand(init.brand);
  const name = init.brand?.name || found.brand?.name || found.name || t("assistant");
  byId("name").textContent = name;
  document.title = name;
  byId("attach").hidden = !found.capabilities?.attachments;
  message.value = message.value || (kept("draft") ?? "");
  fit();
  document.documentElement.dataset.ready = "";
  conversation.join(ownerOf(init.token ?? ""));
  await conversation.resume(() => {
    begun();
    attachments.show(conversation.id);
  });
}

function unavailable(error, init) {
  if (error.status === 422) console.error(`CogniBuild.mount: ${error.message}`);
  const own = { 0: "noConnection", 401: "signIn", 403: "disabled", 404: "unavailable", 422: "unavailable" }[error.status] ?? "wentWrong";
  const again = el("button", { type: "button", text: t("retry"), onclick: () => start(init) });
  byId("welcome").replaceChildren(el("p", { text: t(own) }), again);
}

byId("composer").addEventListener("submit", (event) => {
  event.preventDefault();
  submit();
});
message.addEventListener("input", () => {
  fit();
  keep("draft", message.value);
});
message.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  if (!conversation.running) submit();
});
byId("new").addEventListener("click", () => {
  if (conversation.running) return say(t("waitFirst"));
  conversation.clear();
  attachments.clear();
  message.focus();
});
byId("list").addEventListener("click", () => openConversations(api, conversation.id, reopen, end));
byId("close").addEventListener("click", () => host.send("cogni:open-state", { open: false }));
byId("panel-close").addEventListener("click", closePanel);
byId("panel").addEventListener("click", (event) => {
  if (event.target === byId("panel")) closePanel();
});
byId("attach").addEventListener("click", () => byId("file").click());
byId("file").addEventListener("change", (event) => {
  attachments.add([...event.target.files]);
  event.target.value = "";
});
addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !byId("panel").open && !byId("close").hidden) host.send("cogni:open-state", { open: false });
});
for (const kind of ["dragover", "dragleave", "drop"]) {
  addEventListener(kind, (event) => {
    event.preventDefault();
    const may = !byId("attach").hidden && event.dataTransfer?.types.includes("Files");
    byId("composer").classList.toggle("drop", Boolean(may) && kind === "dragover");
    if (may && kind === "drop") attachments.add([...event.dataTransfer.files]);
  });
}

async function reopen(id) {
  if (conversation.running) return say(t("waitFirst"));
  keep("run", null);
  await conversation.reopen(id);
  attachments.show(conversation.id);
  message.focus();
}

async function end(id) {
  try {
    await api.post(`/v1/conversations/${id}/end`);
    conversation.clear();
    attachments.clear();
    message.focus();
  } catch (error) {
    say(error.message || t("wentWrong"));
  }
}

let started = false;
host.on("cogni:init", (init) => {
  if (started) return;
  started = true;
  start(init);
});
host.on("cogni:context", ({ subject_ref: wanted }) => context.look(subjectOf(wanted)).catch(() => {}));
host.on("cogni:open", () => message.focus());
message.readOnly = false;
host.send("cogni:ready");
