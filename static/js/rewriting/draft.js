// Keeps everything that is typed on the rewrite page: in this browser at every key, and on the server a moment after typing
// stops and when the page is left. While the server cannot be reached, sending is retried with growing pauses. The server
// decides between pages that write at the same time: see annotate/rewriting/drafts.py. It identifies this page by its
// `place`, its last writing by `turn` (milliseconds of this clock), and the drafts that it continues by `seen`.
import { clock } from "../time.js";
import { clearNotices, showNotice } from "../notices.js";
import { tick, ticked } from "./ticks.js";

const PAUSE = 800;
const LONGEST_PAUSE = 60_000;
const PATIENCE = 20_000;
// The most that a browser sends for a page that has been left.
const MOST_ON_LEAVING = 60_000;

const form = document.querySelector("[data-rewriting]");
const line = form.querySelector("[data-draft-line]");
const status = form.querySelector("[data-draft-status]");
const discard = form.querySelector("[data-draft-discard]");
const fields = ["text", "conditions", "note"].map((name) => form.elements[name]);
const name = `rewriting:${form.dataset.draftName}`;
const place = form.dataset.place;
const version = Number(form.dataset.version);

let seen = JSON.parse(form.dataset.seen);
let turn = 0;
let sent = 0;
let waiting = 0;
let pause = PAUSE;
let going = null;
let leaving = false;
let keeps = true;

const words = () => ({ text: form.elements.text.value, conditions: form.elements.conditions.value, note: form.elements.note.value, drops: ticked() });
const plain = (value) => value.replaceAll("\r\n", "\n").trim();
const same = (one, other) => plain(one.text) === plain(other.text) && plain(one.conditions) === plain(other.conditions);
const alike = (one, other) => same(one, other) && plain(one.note) === plain(other.note) && String(one.drops) === String(other.drops);

function fill(values) {
  for (const field of fields) field.value = values[field.name];
  tick(values.drops);
  form.elements.text.dispatchEvent(new Event("input", { bubbles: true }));
}

// Changes of state are read out, but not every save.
function showState(state, more = "", rest = []) {
  line.dataset.state = state;
  line.replaceChildren(line.dataset[state], ...(more ? [` ${more}`] : []), ...rest);
  const spoken = state === "saved" || state === "unsaved" ? "" : line.textContent;
  if (status.textContent !== spoken) status.textContent = spoken;
}

// Whether the fields differ from what the page was served with.
const isEdited = () => fields.some((field) => field.value !== field.defaultValue);

function readStored() {
  try {
    return JSON.parse(localStorage.getItem(name));
  } catch (error) {
    keeps = false; // no storage here, or not ours
    console.warn(error);
    return null;
  }
}

function store(entry) {
  try {
    localStorage.setItem(name, JSON.stringify(entry));
    keeps = true;
  } catch (error) {
    keeps = false; // storage is full: the line says so once the server fails too
    console.warn(error);
  }
}

const entry = () => ({ place, turn, seen, basedOn: Number(form.elements.based_on.value), pending: turn > sent, words: words() });

function changed() {
  turn = Math.max(turn + 1, Date.now());
  store(entry());
  if (line.dataset.state !== "offline") showState("unsaved");
  discard.hidden = false;
  pause = PAUSE;
  later(PAUSE);
}

function later(after) {
  clearTimeout(waiting);
  waiting = setTimeout(send, after);
}

function retryLater() {
  showState(keeps ? "offline" : "nowhere");
  pause = Math.min(pause * 2, LONGEST_PAUSE);
  later(pause);
}

async function sendDraft(writing) {
  const body = JSON.stringify({ ...writing.words, based_on: writing.basedOn, place: writing.place, turn: writing.turn, seen: writing.seen });
  const token = document.cookie.match(/(?:^|; )csrftoken=([^;]+)/)?.[1] ?? form.elements.csrfmiddlewaretoken.value;
  const headers = { "Content-Type": "application/json", "X-CSRFToken": token };
  // A redirect leads to the sign-in page, where no draft is saved.
  return fetch(form.dataset.draftUrl, { method: "PUT", headers, body, redirect: "manual", keepalive: leaving && body.length < MOST_ON_LEAVING, signal: leaving ? null : AbortSignal.timeout(PATIENCE) });
}

async function send() {
  clearTimeout(waiting);
  if (turn <= sent || (going && !leaving)) return;
  const writing = entry();
  let response;
  going = writing;
  try {
    response = await sendDraft(writing);
  } catch {
    return retryLater(); // no network, or no answer
  } finally {
    going = null;
  }
  if (response.status >= 500) return retryLater();
  if (response.type === "opaqueredirect" || response.status === 401 || response.status === 403) {
    pause = Math.min(pause * 2, LONGEST_PAUSE);
    later(pause);
    return showState("signedOut", "", [" ", Object.assign(document.createElement("a"), { href: document.body.dataset.signIn, target: "_blank", textContent: line.dataset.signIn })]);
  }
  const answer = response.headers.get("Content-Type")?.startsWith("application/json") ? await response.json() : {};
  // Refused, with a reason: do not send the same again.
  if (!response.ok) return showState("alone", answer.sentence ?? response.statusText);
  sent = Math.max(sent, writing.turn);
  pause = PAUSE;
  seen = { ...seen, ...answer.seen };
  store(entry());
  form.querySelector("[data-draft-behind]").hidden = !answer.overtaken;
  if (turn > sent) later(PAUSE);
  else showState("saved", clock(new Date(answer.saved_at)));
}

// Restores the words that this browser kept and the server does not have, unless other words are newer. In any case they are
// sent, and the server sets aside words that were overtaken.
async function restore() {
  const kept = readStored();
  if (!kept?.pending) return;
  const now = words();
  // The words became a version or a draft: there is nothing to restore.
  if (alike(kept.words, now) || (kept.basedOn < version && same(kept.words, now) && Number(form.elements.based_on.value) === version)) return store({ ...kept, pending: false });
  const [other, theirs] = Object.entries(seen)[0] ?? ["", 0];
  const knew = !other || (kept.seen[other] ?? -1) >= theirs || kept.place === other;
  // The server already has these words among those it set aside.
  if (form.querySelector(`button[name=take][value^="${CSS.escape(kept.place)}:"]`)) return store({ ...kept, pending: false });
  // Somebody has typed before this script ran.
  if (isEdited()) {
    await sendDraft(kept);
    return changed();
  }
  if (!knew && kept.turn < Number(form.dataset.turn)) {
    const response = await sendDraft(kept);
    if (response.ok) {
      store({ ...kept, pending: false });
      form.querySelector("[data-draft-behind]").hidden = false;
    }
    return;
  }
  seen = { ...(knew ? seen : {}), ...kept.seen, [kept.place]: kept.turn };
  form.elements.based_on.value = kept.basedOn;
  fill(kept.words);
  form.querySelector("[data-draft-back]").hidden = false;
}

form.addEventListener("input", (event) => fields.includes(event.target) && changed());
document.addEventListener("rewrite:ticked", changed);
// Whether a button of the page would lead to the browser's own error page.
const isOffline = () => !navigator.onLine || ["offline", "nowhere"].includes(line.dataset.state);

// Sends the words first. If they arrive, the button does its work; otherwise the page stays and says why.
async function saveThenSubmit(button) {
  store(entry());
  await send();
  if (isOffline()) showNotice(form.dataset.away, { kind: "warning" });
  else form.requestSubmit(button);
}

form.addEventListener("submit", (event) => {
  clearNotices();
  if (isOffline()) {
    event.preventDefault();
    saveThenSubmit(event.submitter);
    return;
  }
  form.elements.drops.value = JSON.stringify(ticked());
  // The server has the words now, or will show them again with an error.
  clearTimeout(waiting);
  leaving = true;
  if (event.submitter === discard) localStorage.removeItem(name);
  sent = turn;
});
addEventListener("online", () => {
  clearNotices();
  send();
});
addEventListener("pagehide", () => {
  leaving = true;
  send();
});
addEventListener("pageshow", () => (leaving = false));
document.addEventListener("visibilitychange", () => document.hidden && send());
// Removed, not hidden: Enter in a form presses its first button, which is now the button for the texts in the search.
for (const button of document.querySelectorAll("[data-without-script]")) button.remove();
// Advice needs the network too; the line already says that the server cannot be reached.
for (const event of ["htmx:sendError", "htmx:timeout"]) document.getElementById("advice").addEventListener(event, (failure) => failure.stopPropagation());
// Treat what was typed before the page's scripts ran as if it were typed now.
addEventListener("load", () => isEdited() && form.elements.text.dispatchEvent(new Event("input", { bubbles: true })));
// A page shown after a refusal holds words that are not saved as a version or a draft yet.
if ("typed" in form.dataset) changed();
else restore();
