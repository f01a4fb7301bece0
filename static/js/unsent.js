// Shows the status of the journal's unsent entries (journal.js): on the page's save line (`.save-line`) or, if it has none,
// in a small notice that is shown only while entries wait or were refused. Its button opens the list of refused entries: the
// document, the answer, and why it was refused; each can be tried again or discarded.
import { discard, journal, refused, retry, status } from "./journal.js";
import { clock } from "./time.js";
import { showNotice } from "./notices.js";

const root = document.querySelector("[data-unsent]");
const dialog = document.querySelector("[data-unsent-list]");
// Sending that takes less time than this is not shown.
const MOMENT = 1_000;

const make = (tag, properties) => Object.assign(document.createElement(tag), properties);
const words = (name, count) => root.dataset[name].replace("{count}", count);

let kind = ""; // of the sentence that was read out last
let late = 0; // a timer: sending takes longer than a moment
let slow = false;

// {text, state, more}: the sentence, what kind of sentence it is, and a link or a button after it.
function sentence() {
  const found = { text: "", state: "", more: null };
  if (status.waiting && status.state) {
    found.text = words({ offline: "offline", unreachable: "unreachable", signed_out: "signedOut", other_person: "otherPerson", disk_full: "diskFull" }[status.state], status.waiting);
    found.state = "waiting";
    if (status.state === "other_person") found.more = make("a", { href: root.dataset.home, target: "_blank", textContent: root.dataset.signOut });
    if (status.state === "signed_out") found.more = make("a", { href: document.body.dataset.signIn, target: "_blank", textContent: root.dataset.signIn });
  } else if (status.refused) {
    found.text = words("refused", status.refused);
    found.state = "refused";
    found.more = make("button", { type: "button", className: "button button--plain button--small", textContent: root.dataset.look, onclick: openList });
  } else if (status.waiting && slow) {
    found.text = words("saving", status.waiting);
    found.state = "saving";
  }
  if (status.unkept && status.waiting) found.text += ` ${root.dataset.unkept}`;
  return found;
}

function show() {
  if (!status.waiting) {
    clearTimeout(late);
    late = 0;
    slow = false;
  } else {
    late ||= setTimeout(() => {
      slow = true;
      show();
    }, MOMENT);
  }
  const line = document.querySelector(".save-line");
  const { text, state, more } = sentence();
  root.hidden = Boolean(line) || !text || state === "saving";
  const place = line ?? root;
  if (text) {
    place.dataset.state = state;
    if (place.firstChild?.nodeValue !== text || Boolean(more) !== Boolean(place.querySelector("a, button"))) place.replaceChildren(text, ...(more ? [" ", more] : []));
  } else if (line && status.savedAt && !status.waiting) {
    const moment = new Date(status.savedAt);
    const words = status.savedUndo ? root.dataset.takenBack : root.dataset.saved;
    line.dataset.state = "saved";
    line.replaceChildren(words, " ", make("time", { dateTime: moment.toISOString(), textContent: clock(moment) }));
  } else if (line && ["waiting", "refused", "saving", "sending"].includes(line.dataset.state) && !status.waiting) {
    line.replaceChildren();
    delete line.dataset.state;
  } else if (line && status.waiting) {
    // The text stays as it is for a moment; the state tells programs that it is outdated.
    line.dataset.state = "sending";
  }
  announce(state && state !== "saving" ? `${state} ${status.state}` : "", text);
  if (dialog.open) fillList();
}

// Reads the text out when the kind of sentence changes, not for every new number in it, and when everything is saved again.
function announce(now, text) {
  if (now === kind) return;
  const arrived = !now && kind.startsWith("waiting");
  kind = now;
  document.querySelector("[data-unsent-spoken]").textContent = arrived ? root.dataset.saved : now && text;
}

async function openList() {
  listed = "";
  await fillList();
  if (!dialog.open) dialog.showModal();
}

let listed = ""; // the entries in the open list, which is drawn anew only if they change: the focus stays where it is

async function fillList() {
  const found = await refused();
  if (!found.length) dialog.close();
  const entries = found.map(({ uuid, sentence }) => `${uuid} ${sentence}`).join("\n");
  if (entries === listed) return;
  listed = entries;
  const template = dialog.querySelector("template");
  dialog.querySelector("ul").replaceChildren(
    template,
    ...found.map(({ uuid, about, sentence }) => {
      const item = template.content.firstElementChild.cloneNode(true);
      const part = (name) => item.querySelector(`[data-part="${name}"]`);
      part("label").textContent = about?.label ?? "";
      part("answer").textContent = about?.answer ?? "";
      part("sentence").textContent = sentence || dialog.dataset.unread;
      part("again").onclick = () => retry(uuid);
      part("throw").onclick = () => {
        part("first").hidden = true;
        part("sure").hidden = false;
        part("yes").focus();
      };
      part("no").onclick = () => {
        part("first").hidden = false;
        part("sure").hidden = true;
        part("throw").focus();
      };
      part("yes").onclick = () => discard(uuid);
      return item;
    }),
  );
  dialog.querySelector("[data-part=all]").hidden = found.length < 2;
}

// Whoever signs out while answers are not saved is told so first, and signs out by the next click.
let isTold = false;
function holdSigningOut(event) {
  const count = status.waiting + status.refused;
  if (!event.target.matches("[data-signs-out]") || !count || isTold) return;
  event.preventDefault();
  isTold = true;
  showNotice(words("signingOut", count), { kind: "warning", stays: true });
}

if (root) {
  journal.addEventListener("status", show);
  document.addEventListener("submit", holdSigningOut, true);
  dialog.querySelector("[data-part=all]").onclick = () => retry();
  // Saved, but with a warning.
  journal.addEventListener("answer", ({ detail: { answer } }) => answer.state === "saved" && answer.sentence && showNotice(answer.sentence, { kind: "warning", stays: true }));
  show();
}
