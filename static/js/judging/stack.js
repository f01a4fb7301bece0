// The next documents, fetched before they are needed (if there is an address; else all are put here): a few first, then more at once, up to about a hundred or three
// megabytes ahead, so that judging continues while the network is down. Recently shown documents are kept for a while.
import { localise } from "../time.js";
import { parseCandidate } from "./judging-session.js";

const FIRST = 5;
const MOST = 20;
const AHEAD = 100;
const BUDGET = 3_000_000; // characters of HTML, which is near enough to bytes
const PORTION = 600_000; // for one response
const LONGEST_PAUSE = 30_000;

export class Stack extends EventTarget {
  refusal = ""; // why the server gives no documents, in its words
  #address;
  #most;
  #documentViews = new Map(); // candidate -> {document view, size}
  #absent = new Set();
  #waiting = new Map(); // candidate -> [resolve]
  #ahead = [];
  #fetches = 0; // begun so far
  #since = new Map(); // candidate -> the first fetch that may bring it
  #average = 0;
  #busy = false;
  #failures = 0;
  #timer = 0;

  constructor(address, most = AHEAD) {
    super();
    this.#address = address;
    this.#most = most;
    addEventListener("online", () => this.#fill());
    addEventListener("focus", () => this.#failures && this.#fill());
  }

  // Adds a document view that is already on the page.
  put(candidate, documentView) {
    this.#documentViews.set(candidate, { documentView: documentView.cloneNode(true), size: documentView.innerHTML.length });
  }

  // The document view as the server rendered it; null if it is not here yet.
  get(candidate) {
    return this.#documentViews.get(candidate)?.documentView.cloneNode(true) ?? null;
  }

  has(candidate) {
    return this.#documentViews.has(candidate);
  }

  // Fetches a document view before all others, and again if `afresh`. Resolves to true, or to false if there is none.
  ensure(candidate, afresh = false) {
    if (afresh) {
      this.#documentViews.delete(candidate);
      // A response that is already on its way may be outdated.
      this.#since.set(candidate, this.#fetches + 1);
    }
    if (this.#documentViews.has(candidate)) return Promise.resolve(true);
    this.#absent.delete(candidate);
    return new Promise((resolve) => {
      this.#waiting.set(candidate, [...(this.#waiting.get(candidate) ?? []), resolve]);
      this.#fill();
    });
  }

  // Sets the documents that will be needed, the soonest first, and those that may be kept besides.
  aim(ahead, behind = []) {
    if (!this.#address) return;
    this.#ahead = ahead.slice(0, this.#most);
    const wanted = new Set([...this.#ahead, ...behind]);
    for (const candidate of this.#documentViews.keys()) if (!wanted.has(candidate)) this.#documentViews.delete(candidate);
    this.#fill();
  }

  #missing() {
    const urgent = [...this.#waiting.keys()];
    const size = this.#ahead.reduce((sum, candidate) => sum + (this.#documentViews.get(candidate)?.size ?? 0), 0);
    const room = this.#average ? Math.floor((BUDGET - size) / this.#average) : FIRST;
    const portion = this.#average ? Math.max(1, Math.min(MOST, Math.floor(PORTION / this.#average))) : FIRST;
    const next = this.#ahead.filter((candidate) => !this.#documentViews.has(candidate) && !this.#absent.has(candidate));
    return [...new Set([...urgent, ...next.slice(0, Math.max(0, room))])].slice(0, Math.max(portion, 1));
  }

  async #fill() {
    if (this.#busy) return;
    this.#busy = true;
    clearTimeout(this.#timer);
    try {
      for (let batch = this.#missing(); batch.length; batch = this.#missing()) await this.#fetch(batch);
      this.#failures = 0;
    } catch {
      // The server cannot be reached, or nobody is signed in: try again until it answers.
      this.#failures += 1;
      this.dispatchEvent(new Event("trouble"));
      this.#timer = setTimeout(() => this.#fill(), Math.min(LONGEST_PAUSE, 1000 * 2 ** (this.#failures - 1)));
    }
    this.#busy = false;
  }

  async #fetch(batch) {
    const turn = ++this.#fetches;
    const timely = (candidate) => (this.#since.get(candidate) ?? 0) <= turn;
    const address = new URL(this.#address, location.href);
    for (const candidate of batch) address.searchParams.append("candidate", candidate);
    const answer = await fetch(address, { headers: { accept: "text/html" }, signal: AbortSignal.timeout(30_000) });
    this.refusal = answer.status === 409 ? await answer.text() : "";
    if (!answer.ok || answer.redirected) throw new Error(`${answer.status} ${answer.url}`);
    const html = await answer.text();
    const documentViews = new DOMParser().parseFromString(html, "text/html").querySelectorAll(".judge__document-view");
    const size = html.length / Math.max(1, documentViews.length);
    this.#average = this.#average ? (this.#average + size) / 2 : size;
    for (const documentView of documentViews) {
      localise(documentView);
      const candidate = parseCandidate(documentView.dataset.candidate);
      if (timely(candidate)) this.#documentViews.set(candidate, { documentView: document.adoptNode(documentView), size });
    }
    for (const candidate of batch.filter(timely)) {
      if (!this.#documentViews.has(candidate)) this.#absent.add(candidate);
      for (const resolve of this.#waiting.get(candidate) ?? []) resolve(this.#documentViews.has(candidate));
      this.#waiting.delete(candidate);
    }
  }
}
