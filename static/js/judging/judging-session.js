// One judge before one narrative: the documents in their order and what was said of each. The same rule as
// annotate.judging.judging_session.JudgingSession, so that the page knows the next document without asking; a test compares the two.
// Beyond it, this one knows the statements one by one: what was taken back or refused gives way to what stood before.

export class JudgingSession {
  #statements = []; // in the order of saying: {candidate, kind, value, uuid, given, fixed, undoneBy, refused}
  #byCandidate = new Map();
  #byUuid = new Map();
  #asked; // UUIDs of the statements with which a lead's rejudge request is shown
  #places;

  // `said`: candidate -> [kind, value, uuid]; `history`: the candidates of `said` that can be taken back, the earliest first
  // (what came from a file stays). `asked`: what a lead wants looked at again, by the UUID of what was said.
  constructor({ order, said = {}, history = [], asked = [] }) {
    this.order = order;
    this.#asked = new Set(asked);
    this.#places = new Map(order.map((candidate, place) => [candidate, place]));
    const known = new Set(history);
    const rest = Object.keys(said).map(Number).filter((candidate) => !known.has(candidate));
    for (const candidate of [...rest, ...history]) {
      if (!said[candidate]) continue;
      const [kind, value, uuid] = said[candidate];
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

  // Takes an entry of the journal in; once, however often it is told.
  apply(entry) {
    if (entry.kind === "undo") {
      const undone = this.#byUuid.get(entry.undoes);
      if (undone) undone.undoneBy = entry.uuid;
      return;
    }
    const before = this.#byUuid.get(entry.uuid);
    // What is put off is still asked for.
    if (entry.flag === "later" && this.asked(entry.candidate)) this.#asked.add(entry.uuid);
    if (before) before.refused = false;
    else this.#add({ candidate: entry.candidate, kind: entry.kind, value: entry.kind === "flag" ? entry.flag : entry.relevance, uuid: entry.uuid });
  }

  // Whether a statement was taken in already.
  knows(uuid) {
    return this.#byUuid.has(uuid);
  }

  // An entry that the server refused, or that was thrown away, counts no more.
  withdraw(entry) {
    const statement = this.#byUuid.get(entry.kind === "undo" ? entry.undoes : entry.uuid);
    if (!statement) return;
    if (entry.kind === "undo") statement.undoneBy = null;
    else statement.refused = true;
  }

  // What the server says stood before all that is known of a candidate here.
  underlie(candidate, kind, value, uuid) {
    if (!this.#byUuid.has(uuid)) this.#add({ candidate, kind, value, uuid, given: true }, true);
  }

  // What stands of a candidate: {kind: "judgment" | "flag", value, uuid}, or null.
  said(candidate) {
    return this.#byCandidate.get(candidate)?.findLast((one) => !one.undoneBy && !one.refused) ?? null;
  }

  // Whether a lead's rejudge request goes with what stands.
  asked(candidate) {
    return this.#asked.has(this.said(candidate)?.uuid);
  }

  // The statement to be taken back next, or null. Of one that was `given` it is not known here what it had replaced.
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

  // How many have this flag.
  flagged(kind) {
    return this.order.filter((candidate) => this.said(candidate)?.kind === "flag" && this.said(candidate).value === kind).length;
  }

  // The next document to judge: onward from `after`, then around; what is asked for again comes first, what was put off last.
  next(after = null) {
    return this.upcoming(after, 1)[0] ?? null;
  }

  // The documents that come after `after` if each is judged in its turn, at most `count`.
  upcoming(after, count) {
    const start = this.#places.has(after) ? this.#places.get(after) + 1 : 0;
    const again = [];
    const fresh = [];
    const later = [];
    // Where nothing is asked for again, no more is looked at than is wanted.
    const whole = this.#asked.size > 0;
    for (let step = 0; step < this.order.length && (whole || fresh.length < count); step++) {
      const candidate = this.order[(start + step) % this.order.length];
      const said = this.said(candidate);
      if (!said) fresh.push(candidate);
      else if (said.kind === "flag" && said.value === "later") later.push(candidate);
      else if (whole && this.asked(candidate)) again.push(candidate);
    }
    return [...again, ...fresh, ...later].slice(0, count);
  }

  // The neighbours, judged or not.
  before(candidate) {
    return this.order[this.#places.get(candidate) - 1] ?? null;
  }

  behind(candidate) {
    return this.order[this.#places.get(candidate) + 1] ?? null;
  }

  // A document's place, from 1; 0 if it is none of them.
  position(candidate) {
    return (this.#places.get(candidate) ?? -1) + 1;
  }

  #isSettled(candidate) {
    const said = this.said(candidate);
    return said !== null && !(said.kind === "flag" && said.value === "later") && !this.#asked.has(said.uuid);
  }
}
