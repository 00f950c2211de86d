// What a person thinks of an answer, with reasons.

import { el, iconButton } from "./dom.js";
import { t } from "./texts.js";

const REASONS = ["incorrect", "outdated", "unsupported", "incomplete", "unclear"];

/** Return the two buttons; a bad verdict asks why. */
export function feedback(api, run, form, say) {
  const up = iconButton("up", t("up"), () => send("up", []), { "aria-pressed": "false" });
  const down = iconButton("down", t("down"), () => ask(), { "aria-pressed": "false", "aria-expanded": "false" });

  async function send(verdict, reasons, comment) {
    try {
      await api.post(`/v1/runs/${run}/feedback`, { verdict, reasons, ...(comment ? { comment } : {}) });
    } catch (error) {
      say(error.message || t("feedbackFailed"));
      return;
    }
    up.setAttribute("aria-pressed", String(verdict === "up"));
    down.setAttribute("aria-pressed", String(verdict === "down"));
    leave();
    say(t("feedbackThanks"));
  }

  function leave() {
    const held = form.contains(document.activeElement);
    form.replaceChildren();
    down.setAttribute("aria-expanded", "false");
    if (held) down.focus();
  }

  function ask() {
    if (form.firstChild) return leave();
    const boxes = REASONS.map((reason) => el("input", { type: "checkbox", value: reason }));
    const comment = el("textarea", { rows: "2", dir: "auto", maxlength: "2000", "aria-label": t("comment"), placeholder: t("comment") });
    const chosen = () => boxes.filter((box) => box.checked).map((box) => box.value);
    const submit = (event) => {
      event.preventDefault();
      send("down", chosen(), comment.value.trim());
    };
    form.replaceChildren(
      el(
        "form",
        { class: "feedback", onsubmit: submit },
        el("fieldset", {}, el("legend", { text: t("feedbackWhy") }), ...boxes.map((box) => el("label", {}, box, t(`reason_${box.value}`)))),
        comment,
        el("button", { type: "submit", class: "primary", text: t("sendFeedback") }),
        " ",
        el("button", { type: "button", text: t("cancel"), onclick: leave }),
      ),
    );
    down.setAttribute("aria-expanded", "true");
    boxes[0].focus();
  }

  return [up, down];
}
