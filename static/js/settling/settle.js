// The modules of the page that settles disagreements, and what it has beside the judge page: the cause that a decision needs, the
// reason that an answer of one's own needs, and answers that are adopted.
import { openNote } from "../judging/page.js";
import "../judging/asked.js";
import "../judging/read.js";
import "../judging/place.js";
import "../judging/quoted.js";
import { begunMap } from "../judging/judging-session.js";
import { journal } from "../journal.js";

const root = document.querySelector(".judge");
const unsent = begunMap("causes"); // disagreement -> the cause that was chosen and not sent
const causes = () => [...root.querySelectorAll(".causes input")];
const buttonOf = ({ adopt, relevance, answer, outcome }) =>
  root.querySelector(adopt ? `button[name=adopt][value="${adopt}"]` : `.grade-button[value="${relevance ?? answer ?? outcome}"]`);
let current = null;
let waiting = null; // the button whose answer waits for its cause

function wait(button) {
  waiting = button;
  for (const other of root.querySelectorAll("button[name=adopt]")) other.ariaPressed = String(other === button);
}

root.addEventListener("judge:document", ({ detail: { candidate, answer } }) => {
  current = candidate;
  wait(null);
  const cause = unsent.get(candidate) ?? answer.fields?.cause;
  for (const input of causes()) input.checked = input.value === cause;
});

root.addEventListener("change", ({ target }) => {
  if (target.name !== "cause") return;
  unsent.set(current, target.value);
  waiting?.click();
});

root.addEventListener("judge:collect", ({ detail: { entry, refuse } }) => {
  const { fields } = entry;
  const button = buttonOf(fields);
  const { cause, reason } = button.form.dataset;
  entry.value = button.dataset.value ?? button.value;
  entry.answer = button.dataset.keyLabel;
  wait(null);
  if (cause && !fields.cause) {
    wait(button);
    refuse(cause);
  } else if (reason && !fields.adopt && !fields.reason.trim()) {
    openNote(button);
    refuse(reason);
  }
});

journal.addEventListener("answer", () => root.querySelector("[data-recount]").dispatchEvent(new Event("recount")));
root.addEventListener("judge:saved", ({ detail: { entry, taken } }) => {
  unsent.delete(entry.disagreement);
  if (taken?.fields.cause) unsent.set(entry.disagreement, taken.fields.cause);
});
