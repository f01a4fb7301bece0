// Adopting an answer needs a cause. An answer adopted first waits for the cause and is sent with it; choosing a grade
// instead cancels it. Without a script the form is refused, and is shown again with the adopted answer.
import { clearNotices, showNotice } from "../notices.js";

const form = document.getElementById("decision");
const causes = form?.querySelector("[data-causes]");
const buttons = [...document.querySelectorAll("button[name=adopt]")];

if (causes && buttons.length) {
  const kept = form.querySelector("input[name=adopt]");
  let waiting = null;

  function wait(button) {
    waiting = button;
    for (const one of buttons) one.ariaPressed = String(one === waiting);
    clearNotices();
    if (waiting) showNotice(causes.dataset.causes);
  }

  // With a cause, the button sends the answer; no other field is needed.
  function adopt(event) {
    if (causes.querySelector("input:checked")) return;
    event.preventDefault();
    wait(event.currentTarget);
  }

  for (const button of buttons) button.addEventListener("click", adopt);

  document.getElementById("settle").addEventListener("click", (event) => {
    if (!waiting) return;
    event.preventDefault();
    waiting.click();
  });

  form.addEventListener("change", (event) => {
    if (!waiting) return;
    if (event.target.name === "cause") waiting.click();
    else if (event.target.type === "radio") wait(null);
  });

  if (kept) {
    wait(buttons.find((button) => button.value === kept.value) ?? null);
    kept.closest("label").remove();
  }
}
