// The modules of the page that checks labels, and what it has beside the judge page: conditions or two questions that are answered
// one after the other; when all are answered, Enter saves them. They may change with the label.
import "../judging/page.js";
import "../judging/asked.js";
import "../judging/read.js";
import "../judging/place.js";
import { conditionRows } from "../condition-rows.js";
import { begunMap } from "../judging/judging-session.js";

const root = document.querySelector(".judge");
const save = document.getElementById("count");
const reason = document.getElementById("read-reason");
const unsent = begunMap("fields"); // label -> the answers that were begun and not sent
let strip = null;
let rows = null;
let label = null;

const chosen = () => Object.fromEntries([...strip.querySelectorAll("input:checked")].map((input) => [input.name, input.value]));

function listen(shown) {
  if (shown === strip) return;
  strip = shown;
  rows = conditionRows(strip, {
    changed() {
      unsent.set(label, chosen());
      rows.drawSum();
    },
    enter: () => save.click(),
  });
}

root.addEventListener("judge:document", ({ detail: { candidate, answer } }) => {
  label = candidate;
  const shown = root.querySelector("[data-conditions]");
  if (!shown) return;
  listen(shown);
  const fields = unsent.get(candidate) ?? answer.fields ?? {};
  for (const input of strip.querySelectorAll("input[type=radio]")) input.checked = fields[input.name] === input.value;
  rows.drawSum();
  rows.go(Math.max(0, rows.rows.findIndex(rows.open)), false);
});

root.addEventListener("judge:collect", ({ detail: { entry, stands, refuse } }) => {
  if (stands.final) return refuse(root.dataset.final);
  if (!strip || entry.fields.cannot_judge || !rows.rows.some(rows.open)) return;
  refuse(rows.words("unanswered"));
  rows.go(rows.rows.findIndex(rows.open), false);
});

root.addEventListener("judge:saved", ({ detail: { entry, taken } }) => {
  unsent.delete(entry.item);
  // What is taken back can be changed and saved again.
  if (taken && strip) unsent.set(entry.item, taken.fields);
  if (!reason || entry.undoes) return;
  // The reason of the label that was answered last can be read now.
  reason.form.action = reason.form.action.replace(/\d+\/reason\/$/, `${entry.item}/reason/`);
  reason.disabled = false;
});
