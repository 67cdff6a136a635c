// @ts-check
/** The dialog of both demo pages in which the visitor chooses who answers: the script, or a model of one's own. */

import { advised, told } from "./advice.js";
import { element, find } from "./element.js";
import { CLASSES, SERVERS, hostOf } from "./providers.js";
import { failureOf } from "./start.js";

/** @import { Failure } from "./start.js" */
/** @import { Listed, Place, VisitorsModel } from "./visitors_model.js" */
/** @import { Wire } from "./providers.js" */

const MARKUP = `
<form method="dialog">
  <h2 id="model-title">Which model answers?</h2>
  <fieldset>
    <legend class="unseen">Provider</legend>
    <div class="chips">
      <label><input type="radio" name="wire" value="" checked><span>Script</span></label>
      <label><input type="radio" name="wire" value="anthropic"><span>Anthropic</span></label>
      <label><input type="radio" name="wire" value="openai"><span>OpenAI</span></label>
      <label><input type="radio" name="wire" value="gemini"><span>Gemini</span></label>
      <label><input type="radio" name="wire" value="openai_chat"><span>OpenAI-compatible</span></label>
    </div>
  </fieldset>
  <p class="note" id="script-note">The script needs no key and no network. The Python around it is the same as with a real model.</p>
  <div id="own-model" hidden>
    <div class="line" id="known-line">
      <label for="known">Server</label>
      <select id="known"></select>
    </div>
    <details id="address">
      <summary>Address: <span id="address-host"></span></summary>
      <label for="server">Base URL</label>
      <input id="server" type="url" required autocomplete="off" spellcheck="false" placeholder="https://api.example.com/v1">
    </details>
    <div class="line">
      <label for="key">API key</label>
      <input id="key" type="password" autocomplete="off" spellcheck="false" aria-describedby="key-note">
      <p class="note" id="key-note"></p>
    </div>
    <div class="line">
      <label for="model">Model</label>
      <div class="beside">
        <input id="model" autocomplete="off" autocapitalize="off" spellcheck="false" placeholder="model id">
        <button class="plain" id="list-models" type="button">List models</button>
      </div>
      <select id="models" size="2" aria-label="Models of the server" hidden></select>
    </div>
    <p class="told" id="model-status" role="status"></p>
    <p class="in-python"><span>In Python</span> <code id="in-python"></code></p>
  </div>
  <div class="actions">
    <button class="plain" id="cancel-model" type="button">Cancel</button>
    <button class="solid" id="use-model">Use the script</button>
  </div>
</form>`;

const OTHER = "Another server";

/**
 * Adds the dialog to the page, behind its button.
 * @param {VisitorsModel} visitorsModel
 */
export function listenToModel(visitorsModel) {
  new ModelDialog(visitorsModel);
}

class ModelDialog {
  /** @type {Listed[]} */
  #listed = [];
  /** Counts what was asked, so that an answer to an older question is dropped. */
  #asked = 0;
  #visitorsModel;
  #dialog = element("dialog", "model-dialog");

  /** @param {VisitorsModel} visitorsModel */
  constructor(visitorsModel) {
    this.#visitorsModel = visitorsModel;
    this.#dialog.setAttribute("aria-labelledby", "model-title");
    // Nothing but the constant above: what a visitor or a server wrote is only ever set as text.
    this.#dialog.innerHTML = MARKUP;
    document.body.append(this.#dialog);
    select("known").append(...SERVERS.openai_chat.map(({ name }) => element("option", "", name)));
    this.#listen();
  }

  #listen() {
    find("open-model").addEventListener("click", () => this.#open());
    find("cancel-model").addEventListener("click", () => this.#dialog.close());
    this.#dialog.addEventListener("close", () => this.#forget());
    for (const radio of this.#wires) radio.addEventListener("change", () => this.#pickWire());
    select("known").addEventListener("change", () => this.#pickServer());
    input("server").addEventListener("input", () => this.#moved());
    input("key").addEventListener("input", () => this.#draw());
    input("model").addEventListener("input", () => this.#draw());
    find("list-models").addEventListener("click", () => this.#list());
    select("models").addEventListener("change", () => {
      input("model").value = select("models").value;
      this.#draw();
    });
    this.#dialog.querySelector("form")?.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit();
    });
  }

  get #wires() {
    return [...this.#dialog.querySelectorAll("input")].filter((radio) => radio.name === "wire");
  }

  /** The chosen wire; an empty text is the script. */
  get #wire() {
    return /** @type {Wire | ""} */ (this.#wires.find((radio) => radio.checked)?.value ?? "");
  }

  /** @returns {Place} */
  get #place() {
    const wire = /** @type {Wire} */ (this.#wire);
    return { wire, server: input("server").value.trim(), key: input("key").value.trim() };
  }

  /** Shows what is in use. */
  #open() {
    const model = this.#visitorsModel.model;
    for (const radio of this.#wires) radio.checked = radio.value === (model?.wire ?? "");
    this.#pickWire();
    if (model) {
      select("known").value = SERVERS[model.wire].find((server) => server.url === model.server)?.name ?? OTHER;
      input("server").value = model.server;
      input("model").value = model.id;
      this.#moved();
    }
    this.#dialog.showModal();
    this.#wires.find((radio) => radio.checked)?.focus();
  }

  /** Nothing that was typed stays in the page. */
  #forget() {
    this.#asked++;
    for (const id of ["key", "model"]) input(id).value = "";
    this.#listed = [];
  }

  #pickWire() {
    const known = select("known");
    known.selectedIndex = 0;
    this.#pickServer();
    /** @type {HTMLDetailsElement} */ (find("address")).open = false;
  }

  #pickServer() {
    if (this.#wire) input("server").value = this.#known?.url ?? "";
    /** @type {HTMLDetailsElement} */ (find("address")).open = this.#known?.url === "";
    input("key").value = "";
    input("model").value = "";
    this.#moved();
  }

  /** The well-known server that is picked. */
  get #known() {
    return this.#wire ? SERVERS[this.#wire][this.#wire === "openai_chat" ? select("known").selectedIndex : 0] : undefined;
  }

  /** What was listed belongs to another place. */
  #moved() {
    this.#asked++;
    this.#listed = [];
    this.#tell("");
    this.#draw();
  }

  #draw() {
    const wire = this.#wire;
    find("script-note").hidden = wire !== "";
    find("own-model").hidden = wire === "";
    find("known-line").hidden = wire !== "openai_chat";
    find("use-model").textContent = wire ? "Use this model" : "Use the script";
    if (!wire) return;
    this.#drawPlace(this.#place);
    this.#drawModels();
    find("in-python").textContent = this.#written();
  }

  /** @param {Place} place */
  #drawPlace(place) {
    const inUse = !place.key && this.#visitorsModel.keyFor(place) !== "";
    const known = this.#known;
    find("address-host").textContent = hostOf(place.server);
    input("key").placeholder = inUse ? "in use; type to replace it" : known?.key || "not needed";
    const goes = place.server ? `sent to ${hostOf(place.server)} alone, ` : "";
    find("key-note").textContent = `Kept in the memory of this tab, ${goes}forgotten when the page is left.`;
  }

  /** Those models whose name has what was typed; all of them once that is a whole name. */
  #drawModels() {
    const typed = input("model").value.trim().toLowerCase();
    const whole = this.#listed.some(({ id }) => id.toLowerCase() === typed);
    const fits = (/** @type {Listed} */ { id, name }) => `${id} ${name ?? ""}`.toLowerCase().includes(typed);
    const shown = whole ? this.#listed : this.#listed.filter(fits);
    select("models").replaceChildren(...shown.map(option));
    // A list of one row would be a menu.
    select("models").size = Math.max(2, Math.min(5, shown.length));
    select("models").hidden = shown.length === 0;
    select("models").value = input("model").value.trim();
  }

  /** The choice as a line of Python. */
  #written() {
    const { wire, server } = this.#place;
    const own = server === SERVERS[wire][0]?.url && wire !== "openai_chat";
    const parts = [JSON.stringify(input("model").value.trim() || "…")];
    if (!own) parts.push(`base_url=${JSON.stringify(server || "…")}`);
    if (this.#visitorsModel.keyFor(this.#place)) parts.push("api_key=…");
    return `lf.llms.${CLASSES[wire]}(${parts.join(", ")})`;
  }

  async #list() {
    if (!this.#hasAddress()) return;
    const asked = ++this.#asked;
    const place = this.#place;
    this.#tell(`Asking ${hostOf(place.server)} for its models…`);
    const answer = await this.#visitorsModel.list(place);
    if (asked !== this.#asked) return;
    if ("failure" in answer) this.#refuse(answer.failure);
    else this.#show(answer.models);
  }

  /** @param {Listed[]} models */
  #show(models) {
    this.#listed = models.toSorted((one, other) => one.id.localeCompare(other.id));
    if (models.length === 1 && !input("model").value) input("model").value = models[0]?.id ?? "";
    const count = models.length === 1 ? "1 model" : `${models.length} models`;
    this.#tell(models.length ? `${count} at ${hostOf(this.#place.server)}: pick one, or type to find it.` : "It has no model.");
    this.#draw();
    input("model").focus();
  }

  async #submit() {
    if (!this.#wire) this.#visitorsModel.useScript();
    else if (!this.#hasAddress()) return;
    else if (!input("model").value.trim()) return await this.#list();
    else {
      try {
        await this.#visitorsModel.use(this.#place, input("model").value.trim());
      } catch (error) {
        const { server, key } = this.#place;
        return this.#refuse(advised(failureOf(error), { server, hasKey: key !== "", page: location.origin }));
      }
    }
    this.#dialog.close();
  }

  /** Says what is wrong with the address, in the browser's words. */
  #hasAddress() {
    const server = input("server");
    if (!server.checkValidity()) /** @type {HTMLDetailsElement} */ (find("address")).open = true;
    return server.reportValidity();
  }

  /** @param {Failure} failure */
  #refuse(failure) {
    this.#listed = [];
    this.#draw();
    this.#tell(told(failure), true);
  }

  /**
   * @param {string} text
   * @param {boolean} [bad]
   */
  #tell(text, bad = false) {
    find("model-status").textContent = text;
    find("model-status").classList.toggle("bad", bad);
  }
}

/** @param {Listed} model */
function option({ id, name, context_window: size }) {
  const facts = [name !== id && name, size && `${Math.round(size / 1000)}k tokens`].filter(Boolean).join(", ");
  const made = element("option", "", facts ? `${id} (${facts})` : id);
  made.value = id;
  return made;
}

const input = (/** @type {string} */ id) => /** @type {HTMLInputElement} */ (find(id));
const select = (/** @type {string} */ id) => /** @type {HTMLSelectElement} */ (find(id));
