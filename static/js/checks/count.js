// The conditions of a check that counts them, or its two questions: when all are answered, Enter saves them. Without a
// script the rows are ordinary radio buttons.
import { answer, conditionRows, open } from "../judging/condition-rows.js";

const strip = document.querySelector("[data-conditions]");
const save = document.getElementById("count");
const { rows, spoken, words, rowOf, goToOpen, goOn } = conditionRows(strip, () => save.click());

function draw() {
  strip.querySelector("[data-conditions-sum]").textContent = words("sum", { met: rows.filter((row) => answer(row) === (strip.dataset.counts ?? "met")).length, total: rows.length });
}

strip.addEventListener("change", (event) => {
  draw();
  goOn(rowOf(event));
});

// Move to the first unanswered row instead of letting the server report it.
save.form.addEventListener("submit", (event) => {
  if (!rows.some(open)) return;
  event.preventDefault();
  goToOpen(false);
  spoken.textContent = words("unanswered");
});

draw();
goToOpen(false);
