// How long a person was at a document: while the page is seen, has the focus, and something was done within the last 30
// seconds. The time away from it does not count; coming back to a document goes on where it stopped.
const IDLE = 30_000;

export class Clock {
  #spent = new Map(); // document -> milliseconds
  #document = null;
  #from = null; // since when the page is looked at, or null
  #last = 0; // when something was done last
  #now;

  constructor(now = () => performance.now()) {
    this.#now = now;
  }

  // Something was done: it counts what went before, up to the limit.
  touch() {
    const now = this.#now();
    this.#count(now);
    this.#last = now;
    if (this.#from !== null) this.#from = now;
  }

  look() {
    const now = this.#now();
    this.#count(now);
    this.#from = this.#last = now;
  }

  away() {
    this.#count(this.#now());
    this.#from = null;
  }

  // From now on it is this document's time.
  turn(document) {
    this.touch();
    this.#document = document;
  }

  // The time at a document so far, in whole milliseconds.
  read(document) {
    this.touch();
    return Math.round(this.#spent.get(document) ?? 0);
  }

  // A judgment took its time; the next one of the same document starts afresh.
  clear(document) {
    this.#spent.delete(document);
  }

  #count(now) {
    if (this.#from === null || this.#document === null) return;
    const spent = Math.max(0, Math.min(now, this.#last + IDLE) - this.#from);
    this.#spent.set(this.#document, (this.#spent.get(this.#document) ?? 0) + spent);
    this.#from = now;
  }
}

const DONE = ["keydown", "pointerdown", "pointermove", "wheel", "scroll", "touchmove"];

export function watched(clock) {
  const look = () => (document.visibilityState === "visible" && document.hasFocus() ? clock.look() : clock.away());
  for (const name of DONE) addEventListener(name, () => clock.touch(), { passive: true, capture: true });
  for (const name of ["focus", "blur"]) addEventListener(name, look);
  document.addEventListener("visibilitychange", look);
  look();
  return clock;
}
