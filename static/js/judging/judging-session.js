// The tasks of the work page, and the entries that each writes to the journal. What is answered has a number: that of a candidate,
// a label or a criterion, or the key of a disagreement; where these pages say "candidate", they mean that.
// `answers`: the kinds of answers. `undo`: the kind of their undoing. `number`: the field with the number. `of`: the fields that name
// what is worked on. `restores`: whether an undoing brings the answer before back.
const CHECK = { undo: "check_withdrawal", number: "item", of: [], restores: false };
export const TASKS = {
  judge: { answers: ["judgment", "flag"], undo: "undo", number: "candidate", of: ["pair", "narrative"], restores: true },
  check: { ...CHECK, answers: ["check"] },
  settle: { ...CHECK, answers: ["settle"] },
  decide: { answers: ["decision"], undo: "decision_withdrawal", number: "disagreement", of: [], restores: false },
  review: { answers: ["rating"], undo: "rating", number: "item", of: ["pair", "narrative"], restores: true },
};

export const candidateOf = (entry) => entry.candidate ?? entry.item ?? entry.disagreement;
// What an attribute or an address names: a number, or the key of a disagreement.
export const parseCandidate = (text) => (/^\d+$/.test(text) ? Number(text) : text);
export const isUndo = (entry) => entry.undoes !== undefined;

// The answer of an entry, in short: a grade, a level, a flag, or null for answers without any.
export function valueOf(entry) {
  if (entry.kind === "flag") return entry.flag;
  if (entry.value !== undefined) return entry.value;
  const { relevance, level } = entry.fields ?? entry;
  return level ?? (relevance === undefined ? null : Number(relevance));
}

// A map, by candidate, of what was begun and not sent, for one person, one task and one narrative version. Each change is stored at once:
// it outlives a reload, a crash and a closed tab. Another tab's changes to other candidates stay.
class BegunMap extends Map {
  #key;

  constructor(key) {
    super();
    this.#key = key;
    for (const [candidate, begun] of this.#stored()) super.set(candidate, begun);
  }

  set(candidate, begun) {
    super.set(candidate, begun);
    this.#store((stored) => stored.set(candidate, begun));
    return this;
  }

  delete(candidate) {
    this.#store((stored) => stored.delete(candidate));
    return super.delete(candidate);
  }

  #stored() {
    try {
      return new Map(JSON.parse(localStorage.getItem(this.#key) ?? "[]"));
    } catch (error) {
      console.warn(error); // no storage here, or not ours
      return new Map();
    }
  }

  #store(change) {
    const stored = this.#stored();
    change(stored);
    try {
      if (stored.size) localStorage.setItem(this.#key, JSON.stringify([...stored]));
      else localStorage.removeItem(this.#key);
    } catch (error) {
      console.warn(error); // storage is full: what was begun is in this page only
    }
  }
}

export function begunMap(name) {
  const { user, narrative = "", task = "judge" } = JSON.parse(document.getElementById("judging-session").textContent);
  return new BegunMap(`rejudge.${name}.${user}.${task}.${narrative}`);
}

// One judge's session on one narrative, one checker's on the labels of a sample, one auditor's on the criteria of a review, or a lead's
// on disagreements: the documents in order and the answer to each. It follows the same rules as
// annotate.judging.judging_session.JudgingSession, so that the page knows the next document without asking the server; a
// test compares the two. Beyond it, this one holds every statement: if one is withdrawn or refused, its predecessor becomes
// current again. After the undoing of a check nothing is current.

export class JudgingSession {
  #statements = []; // oldest first: {candidate, kind, value, uuid, given, fixed, undoneBy, refused}
  #byCandidate = new Map();
  #byUuid = new Map();
  #asked; // UUIDs of the statements that rejudge requests are shown with
  #places;
  #restores;

  // `answers`: candidate -> [kind, value, uuid]; `history`: the candidates of `answers` whose statement can be withdrawn, oldest
  // first (statements from a file cannot). `asked`: UUIDs of the statements that rejudge requests are shown with.
  constructor({ order, answers = {}, history = [], asked = [], task = "judge" }) {
    this.order = order;
    this.#restores = TASKS[task].restores;
    this.#asked = new Set(asked);
    this.#places = new Map(order.map((candidate, place) => [candidate, place]));
    const known = new Set(history);
    const rest = order.filter((candidate) => !known.has(candidate));
    for (const candidate of [...rest, ...history]) {
      if (!answers[candidate]) continue;
      const [kind, value, uuid] = answers[candidate];
      this.#add({ candidate, kind, value, uuid, given: true, fixed: !known.has(candidate) });
    }
  }

  #add(statement, first = false) {
    const made = { given: false, fixed: false, undoneBy: null, refused: false, ...statement };
    if (!this.#byCandidate.has(made.candidate)) this.#byCandidate.set(made.candidate, []);
    const stack = this.#byCandidate.get(made.candidate);
    if (first) {
      this.#statements.unshift(made);
      stack.unshift(made);
    } else {
      this.#statements.push(made);
      stack.push(made);
    }
    this.#byUuid.set(made.uuid, made);
  }

  // Applies a journal entry; applying it again changes nothing.
  apply(entry) {
    if (isUndo(entry)) {
      for (const undone of this.#undoneBy(entry)) undone.undoneBy ??= entry.uuid;
      return;
    }
    const before = this.#byUuid.get(entry.uuid);
    const candidate = candidateOf(entry);
    // The rejudge request remains open after "later".
    if (entry.flag === "later" && this.asked(candidate)) this.#asked.add(entry.uuid);
    if (before?.refused) this.#renew(before);
    else if (!before) this.#add({ candidate, kind: entry.kind, value: valueOf(entry), uuid: entry.uuid });
  }

  // A refused statement that is sent again is the newest.
  #renew(statement) {
    statement.refused = false;
    for (const stack of [this.#statements, this.#byCandidate.get(statement.candidate)]) stack.push(...stack.splice(stack.indexOf(statement), 1));
  }

  // Whether a statement was applied already.
  knows(uuid) {
    return this.#byUuid.has(uuid);
  }

  // Ignores an entry that the server refused or that was discarded.
  withdraw(entry) {
    if (isUndo(entry)) {
      for (const undone of this.#undoneBy(entry)) if (undone.undoneBy === entry.uuid) undone.undoneBy = null;
      return;
    }
    const statement = this.#byUuid.get(entry.uuid);
    if (statement) statement.refused = true;
  }

  // Whether an answer was given since the page was rendered, and not refused.
  isNew(uuid) {
    const statement = this.#byUuid.get(uuid);
    return statement !== undefined && !statement.given && !statement.refused;
  }

  // The statements that end with an undoing: one judgment, but all checks of a label.
  #undoneBy(entry) {
    const undone = this.#byUuid.get(entry.undoes);
    if (!undone) return [];
    return this.#restores ? [undone] : this.#byCandidate.get(undone.candidate);
  }

  // Adds a statement from the server that is older than all statements known here for a candidate.
  underlie(candidate, kind, value, uuid) {
    const known = this.#byUuid.get(uuid);
    if (known) known.refused = false;
    else this.#add({ candidate, kind, value, uuid, given: true }, true);
  }

  // Ignores an entry about an older text, and what was said about its candidate before.
  reopen(entry) {
    const stack = this.#byCandidate.get(candidateOf(entry)) ?? [];
    const place = stack.findIndex(({ uuid }) => uuid === entry.uuid);
    for (const statement of stack.slice(0, place + 1)) statement.refused = true;
  }

  // The current statement about a candidate: {kind: "judgment" | "flag", value, uuid}, or null.
  answerOf(candidate) {
    return this.#byCandidate.get(candidate)?.findLast((one) => !one.undoneBy && !one.refused) ?? null;
  }

  // Whether the current statement has a rejudge request.
  asked(candidate) {
    return this.#asked.has(this.answerOf(candidate)?.uuid);
  }

  // The statement to undo next, or null. For one that was `given`, its predecessor is not known here.
  last() {
    return this.#statements.findLast((one) => !one.undoneBy && !one.refused && !one.fixed) ?? null;
  }

  get total() {
    return this.order.length;
  }

  get settled() {
    return this.order.filter((candidate) => this.#isSettled(candidate)).length;
  }

  get done() {
    return this.settled === this.total;
  }

  // The number of documents with this flag.
  flagged(kind) {
    return this.order.filter((candidate) => this.answerOf(candidate)?.kind === "flag" && this.answerOf(candidate).value === kind).length;
  }

  // The next document to judge, searching from `after` and wrapping around: rejudge requests first, "later" flags last.
  next(after = null) {
    return this.upcoming(after, 1)[0] ?? null;
  }

  // The documents that follow `after` if each is judged in turn, at most `count`.
  upcoming(after, count) {
    const start = this.#places.has(after) ? this.#places.get(after) + 1 : 0;
    const again = [];
    const fresh = [];
    const later = [];
    // Without rejudge requests, stop at `count`.
    const whole = this.#asked.size > 0;
    for (let step = 0; step < this.order.length && (whole || fresh.length < count); step++) {
      const candidate = this.order[(start + step) % this.order.length];
      const answer = this.answerOf(candidate);
      if (!answer) fresh.push(candidate);
      else if (answer.kind === "flag" && answer.value === "later") later.push(candidate);
      else if (whole && this.asked(candidate)) again.push(candidate);
    }
    return [...again, ...fresh, ...later].slice(0, count);
  }

  // The neighbours, judged or not.
  before(candidate) {
    return this.order[this.#places.get(candidate) - 1] ?? null;
  }

  following(candidate) {
    return this.order[this.#places.get(candidate) + 1] ?? null;
  }

  // A document's position, from 1; 0 if it is not in the order.
  position(candidate) {
    return (this.#places.get(candidate) ?? -1) + 1;
  }

  #isSettled(candidate) {
    const answer = this.answerOf(candidate);
    return answer !== null && !(answer.kind === "flag" && answer.value === "later") && !this.#asked.has(answer.uuid);
  }
}
