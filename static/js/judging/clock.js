// The active time at a document: while the page is visible, has the focus, and the person did something within the last 30
// seconds. Time away does not count; returning to a document continues its time.
const IDLE = 30_000;

export class Clock {
  #spent = new Map(); // document -> milliseconds
  #document = null;
  #from = null; // since when time is counted, or null
  #last = 0; // the time of the last activity
  #now;

  constructor(now = () => performance.now()) {
    this.#now = now;
  }

  // Records activity: counts the time since the last one, up to the limit.
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

  // Counts the time from now on for this document.
  turn(document) {
    this.touch();
    this.#document = document;
  }

  // Returns the time at a document so far, in whole milliseconds.
  read(document) {
    this.touch();
    return Math.round(this.#spent.get(document) ?? 0);
  }

  // Clears the time after a judgment; the next one of the same document starts at zero.
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
