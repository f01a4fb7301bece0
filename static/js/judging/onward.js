// The ways on from the card after the last document (`data-onward`): they wait until every answer is saved, and say so. Without a
// network they would lead to the browser's own error page.
import { journal, status } from "../journal.js";

const card = document.querySelector("[data-part=end]");
const line = card?.querySelector("[data-part=onward]");
let wanted = null; // the link or the form that waits

const waits = () => status.waiting > 0 || !navigator.onLine;

function hold(event) {
  if (!waits()) return;
  event.preventDefault();
  wanted = event.target.closest("[data-onward]");
  show();
}

function show() {
  if (!line || !wanted) return;
  line.hidden = false;
  line.textContent = card.dataset.waits.replace("{count}", status.waiting);
}

function goOn() {
  if (!wanted) return;
  if (waits()) return show();
  const element = wanted;
  clearOnward();
  if (element.matches("form")) element.requestSubmit();
  else element.click();
}

// Forgets the way that was wanted: another document is shown.
export function clearOnward() {
  wanted = null;
  if (line) line.hidden = true;
}

document.addEventListener("submit", (event) => event.target.matches("[data-onward]") && hold(event), true);
document.addEventListener("click", (event) => event.target.closest("a[data-onward]") && hold(event), true);
journal.addEventListener("status", goOn);
addEventListener("online", goOn);
