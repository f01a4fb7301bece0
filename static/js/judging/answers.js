// The answers of one person on a work page or in a list: the session, the entries that this browser's journal has for it, and what
// other tabs have answered meanwhile. Events: "change" {candidate} after an answer was given, withdrawn or refused; "elsewhere"
// {candidate, sentence} when another tab has answered.
import { add, entriesSinceLoad, journal, uuid } from "../journal.js";
import { showNotice, warn } from "../notices.js";
import { candidateOf, isUndo, JudgingSession, TASKS } from "./judging-session.js";
import { Stack } from "./stack.js";

export class Answers extends EventTarget {
  entries = new Map(); // uuid -> an entry of the journal
  #given;
  #sentences;
  #textOf;
  #unsure = new Set(); // UUIDs of undo entries for which the statement to restore is not known here
  #elsewhere = new Map(); // candidate -> UUID of another tab's answer, until a key press here has reported it

  // `sentences`: those of the page, from its `data-` attributes; `textOf(entry)`: its answer in words.
  constructor(given, sentences, textOf) {
    super();
    this.#given = given;
    this.#sentences = sentences;
    this.#textOf = textOf;
    this.task = TASKS[given.task ?? "judge"];
    this.session = new JudgingSession(given);
    this.stack = new Stack(given.urls.documents, given.ahead);
    journal.addEventListener("entry", ({ detail: { entry } }) => this.#isOurs(entry) && this.#arrive(entry));
    journal.addEventListener("gone", ({ detail: { entry } }) => this.#isOurs(entry) && this.#withdraw(entry));
    journal.addEventListener("answer", ({ detail: { entry, answer } }) => {
      if (!this.#isOurs(entry)) return;
      if (answer.state === "refused") {
        this.#withdraw(entry);
        showNotice(answer.sentence || sentences.refused, { kind: "error", stays: true });
      } else if (answer.reopened) {
        this.session.reopen(entry);
        this.#restore(candidateOf(entry));
      } else if (this.#unsure.delete(entry.uuid)) this.#restore(candidateOf(entry));
    });
  }

  #isOurs = (entry) =>
    (this.task.answers.includes(entry.kind) || entry.kind === this.task.undo) &&
    this.task.of.every((name) => entry[name] === this.#given[name]) &&
    this.session.position(candidateOf(entry)) > 0;

  // Applies the entries that the page cannot have known when it was rendered, and returns them.
  async load() {
    const fresh = await entriesSinceLoad(this.#isOurs);
    for (const entry of fresh) this.#apply(entry);
    return fresh;
  }

  make(kind, candidate, content = {}) {
    const entry = { uuid: uuid(), user: this.#given.user, made_at: new Date().toISOString(), kind, [this.task.number]: candidate };
    for (const name of this.task.of) entry[name] = this.#given[name];
    if (this.#given.guidelines !== undefined) entry.guidelines = this.#given.guidelines;
    if (this.#given.criteria) entry.criterion = this.#given.criteria[candidate - 1];
    return { ...entry, ...content };
  }

  // The undoing of a statement. For one from the server, what stood before is asked for when it is saved.
  makeUndo(statement) {
    const entry = this.make(this.task.undo, statement.candidate, { undoes: statement.uuid });
    if (statement.given && this.task.number === "candidate") this.#unsure.add(entry.uuid);
    return entry;
  }

  // Keeps an entry in the journal; resolves when it is on the disk. `about`: see journal.js.
  keep(entry, about) {
    this.#apply(entry);
    return add(entry, about);
  }

  #say = (name, entry) => this.#sentences[name].replace("{answer}", this.#textOf(entry));

  // The first key on a document that another tab has answered in the meantime only shows that answer; the next one replaces it.
  isFromElsewhere(candidate) {
    const answer = this.session.answerOf(candidate)?.uuid;
    const isNew = answer !== undefined && this.#elsewhere.get(candidate) === answer;
    this.#elsewhere.delete(candidate);
    if (!isNew) return false;
    warn(this.#say("replace", this.entries.get(answer)));
    return true;
  }

  // Shows of the rejudge requests in `place` the one that belongs to the current answer, also if that was just flagged "later", and
  // returns it; null if none does.
  showRequest(place, candidate) {
    const requests = [...place.querySelectorAll("[data-again]")];
    const { uuid } = this.session.answerOf(candidate) ?? {};
    const open = this.session.asked(candidate) ? (requests.find((one) => one.dataset.again === uuid) ?? requests.at(-1) ?? null) : null;
    for (const one of requests) one.hidden = one !== open;
    return open;
  }

  // Draws how much is answered, and whether there is something to take back.
  drawProgress() {
    const number = new Intl.NumberFormat(document.documentElement.lang);
    const { settled, total } = this.session;
    const bar = document.querySelector("#judge-progress progress");
    bar.max = Math.max(1, total);
    bar.value = settled;
    document.querySelector("#judge-progress .count").textContent = this.#sentences.progress.replace("{done}", number.format(settled)).replace("{total}", number.format(total));
    const undoing = document.getElementById("undo");
    undoing.disabled = this.session.last() === null && !("otherwise" in undoing.form.dataset);
  }

  #apply(entry) {
    this.entries.set(entry.uuid, entry);
    this.session.apply(entry);
  }

  #arrive(entry) {
    const isKnown = this.entries.has(entry.uuid);
    this.#apply(entry);
    this.#changed(candidateOf(entry));
    if (isKnown || isUndo(entry)) return;
    this.#elsewhere.set(candidateOf(entry), entry.uuid);
    this.dispatchEvent(new CustomEvent("elsewhere", { detail: { candidate: candidateOf(entry), sentence: this.#say("elsewhere", entry) } }));
  }

  #withdraw(entry) {
    this.session.withdraw(entry);
    this.#changed(candidateOf(entry));
  }

  // Only the server knows which answer counts now: the predecessor of what was undone, or one about a newer text.
  async #restore(candidate) {
    if (!(await this.stack.ensure(candidate, true))) return;
    const before = JSON.parse(this.stack.get(candidate).dataset.answer || "{}");
    if (before.kind) this.session.underlie(candidate, before.kind, before.relevance ?? before.flag, before.uuid);
    this.#changed(candidate);
  }

  #changed(candidate) {
    this.dispatchEvent(new CustomEvent("change", { detail: { candidate } }));
  }
}
