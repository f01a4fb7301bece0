// The conditions of a check that counts them, or its two questions: when all are answered, Enter saves them.
import { conditionRows } from "../condition-rows.js";

const save = document.getElementById("count");
const { rows, spoken, words, open, go, drawSum } = conditionRows(document.querySelector("[data-conditions]"), {
  changed: () => drawSum(),
  enter: () => save.click(),
});

// Move to the first unanswered row instead of letting the server report it.
save.form.addEventListener("submit", (event) => {
  if (!rows.some(open)) return;
  event.preventDefault();
  go(rows.findIndex(open), false);
  spoken.textContent = words("unanswered");
});

drawSum();
go(Math.max(0, rows.findIndex(open)), false);
