// Says how things stand with what is on its way to the server (journal.js): on the page's save line (`.save-line`), or
// where it has none, in a small notice that is there only while something waits or was refused. Its button opens the list
// of what was refused: what was said of which document, and why; each can be tried again or thrown away.
import { discard, journal, refused, retry, status } from "./journal.js";
import { clock } from "./time.js";
import { tell } from "./told.js";

const root = document.querySelector("[data-unsent]");
const dialog = document.querySelector("[data-unsent-list]");
// What is on its way for less than this is no news.
const MOMENT = 1_000;

const make = (tag, properties) => Object.assign(document.createElement(tag), properties);
const words = (name, count) => root.dataset[name].replace("{count}", count);

let kind = ""; // of the sentence that was read out last
let late = 0; // a timer: what is sent takes longer than a moment
let slow = false;

// {text, state, more}: the sentence, what kind of sentence it is, and a link or a button after it.
function sentence() {
  const found = { text: "", state: "", more: null };
  if (status.waiting && status.state) {
    found.text = words({ offline: "offline", unreachable: "unreachable", signed_out: "signedOut", disk_full: "diskFull" }[status.state], status.waiting);
    found.state = "waiting";
    if (status.state === "signed_out") found.more = make("a", { href: document.body.dataset.signIn, target: "_blank", textContent: root.dataset.signIn });
  } else if (status.refused) {
    found.text = words("refused", status.refused);
    found.state = "refused";
    found.more = make("button", { type: "button", className: "button button--plain button--small", textContent: root.dataset.look, onclick: list });
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
    const said = status.savedKind === "undo" ? root.dataset.takenBack : root.dataset.saved;
    line.dataset.state = "saved";
    line.replaceChildren(said, " ", make("time", { dateTime: moment.toISOString(), textContent: clock(moment) }));
  } else if (line && ["waiting", "refused", "saving", "sending"].includes(line.dataset.state) && !status.waiting) {
    line.replaceChildren();
    delete line.dataset.state;
  } else if (line && status.waiting) {
    // The words stay as they are for a moment; that they are not of this is for programs that look.
    line.dataset.state = "sending";
  }
  speak(state && state !== "saving" ? `${state} ${status.state}` : "", text);
  if (dialog.open) fill();
}

// Read out when it is another sentence, not with every number in it; and when all is well again.
function speak(now, text) {
  if (now === kind) return;
  const arrived = !now && kind.startsWith("waiting");
  kind = now;
  document.querySelector("[data-unsent-spoken]").textContent = arrived ? root.dataset.saved : now && text;
}

async function list() {
  await fill();
  if (!dialog.open) dialog.showModal();
}

async function fill() {
  const found = await refused();
  const template = dialog.querySelector("template");
  dialog.querySelector("ul").replaceChildren(
    template,
    ...found.map(({ uuid, about, sentence }) => {
      const item = template.content.firstElementChild.cloneNode(true);
      const part = (name) => item.querySelector(`[data-part="${name}"]`);
      part("label").textContent = about?.label ?? "";
      part("said").textContent = about?.said ?? "";
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
  if (!found.length) dialog.close();
}

if (root) {
  journal.addEventListener("status", show);
  // Saved, but there is something to say about it.
  journal.addEventListener("answer", ({ detail: { answer } }) => answer.state === "saved" && answer.sentence && tell(answer.sentence, { kind: "warning", stays: true }));
  show();
}
