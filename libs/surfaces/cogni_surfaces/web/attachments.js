// Documents that a person adds: their own, for this conversation alone.

import { el, iconButton } from "./dom.js";
import { t } from "./texts.js";

const MOST_BYTES = 20 * 2 ** 20;

export class Attachments {
  constructor(api, chips, conversationId, say) {
    Object.assign(this, { api, chips, conversationId, say });
  }

  async add(files) {
    for (const file of files) {
      const conversation = await this.conversationId();
      if (!conversation) return this.say(t("askFirst"));
      if (file.size > MOST_BYTES) this.failed(file.name, t("tooLarge", { title: file.name }));
      else await this.send(conversation, file);
    }
  }

  async send(conversation, file) {
    const waiting = this.chips.appendChild(el("li", {}, el("bdi", { text: t("reading", { title: file.name }) })));
    const address = `/v1/conversations/${conversation}/attachments`;
    this.say(t("reading", { title: file.name }), true);
    try {
      const raw = new Blob([file], { type: "application/octet-stream" });
      const added = await this.api.json("POST", `${address}?name=${encodeURIComponent(file.name)}`, { body: raw });
      waiting.replaceWith(this.chip(added, address));
      this.say("");
    } catch (error) {
      waiting.remove();
      this.failed(file.name, error.message || t("attachFailed", { title: file.name }));
    }
  }

  chip({ document_id: id, name }, address) {
    const remove = async () => {
      try {
        await this.api.json("DELETE", `${address}/${id}`);
        made.remove();
      } catch (error) {
        this.say(error.message || t("wentWrong"));
      }
    };
    const made = el("li", { "data-document": id }, el("bdi", { text: name }), iconButton("close", t("remove", { title: name }), remove));
    return made;
  }

  failed(name, why) {
    const made = el("li", { class: "bad" }, el("span", { text: why }), iconButton("close", t("remove", { title: name }), () => made.remove()));
    this.chips.append(made);
    this.say(why);
  }

  clear() {
    for (const chip of this.chips.querySelectorAll("[data-document], .bad")) chip.remove();
  }
}
