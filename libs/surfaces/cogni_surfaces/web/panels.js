// The panel at the side: an opened source, or the person's own conversations.

import { byId, el } from "./dom.js";
import { moment, t } from "./texts.js";

/** Open the panel; focus goes into it, and back to where it was when it closes. */
function open(title, ...content) {
  const panel = byId("panel");
  byId("panel-title").textContent = title;
  byId("panel-body").replaceChildren(...content.filter(Boolean));
  if (!panel.open) {
    const before = document.activeElement;
    panel.showModal();
    panel.addEventListener("close", () => before?.isConnected && before.focus(), { once: true });
  }
  byId("panel-title").focus();
}

export function closePanel() {
  byId("panel").close();
}

const busy = () => el("p", { class: "fine", role: "status", text: t("loading") });

/** Show a cited passage at its place; whether it may still be read is asked anew. */
export async function openSource(api, run, citation) {
  const { handle, label } = citation;
  open(label, busy());
  try {
    const found = await api.get(`/v1/runs/${run}/citations/${handle}`);
    open(
      found.label,
      el("p", { class: "fine", dir: "auto", text: found.locator }),
      el("div", { class: "passage", dir: "auto", tabindex: "0", role: "region", "aria-label": found.locator, text: found.text }),
      found.url ? el("p", { class: "fine", dir: "auto", text: t("openWhole", { url: found.url }) }) : null,
    );
  } catch (error) {
    if (error.status === 404) return open(label, el("p", { text: t("sourceGone") }));
    const again = el("button", { type: "button", text: t("retry"), onclick: () => openSource(api, run, citation) });
    open(label, el("p", { text: error.message || t(error.status ? "sourceFailed" : "noConnection") }), again);
  }
}

/** List the person's own conversations. */
export async function openConversations(api, current, reopen, end) {
  open(t("conversations"), busy());
  const choose = (action, id) => () => {
    closePanel();
    action(id);
  };
  try {
    const { conversations } = await api.get("/v1/conversations");
    const items = conversations.map(({ id, title, last_turn_at: at }) =>
      el(
        "li",
        {},
        el(
          "button",
          { type: "button", "aria-current": String(id === current), onclick: choose(reopen, id) },
          el("bdi", { text: title || t("untitled") }),
          el("time", { datetime: at, text: moment(at) }),
        ),
      ),
    );
    const list = items.length ? el("ul", { class: "conversations" }, ...items) : el("p", { text: t("noConversations") });
    const ending = current ? el("button", { type: "button", text: t("endConversation"), onclick: choose(end, current) }) : null;
    open(t("conversations"), list, ending);
  } catch (error) {
    open(t("conversations"), el("p", { text: error.message || t(error.status ? "wentWrong" : "noConnection") }));
  }
}
