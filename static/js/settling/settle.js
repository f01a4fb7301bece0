// Adopting an answer needs a cause. Adopted first, the answer waits for the cause, and is sent with it; choosing a grade
// instead lets go of it. Without script the form is refused, and comes back with the adopted answer.
import { forget, tell } from "../told.js";

const form = document.getElementById("decision");
const causes = form?.querySelector("[data-causes]");
const buttons = [...document.querySelectorAll("button[name=adopt]")];

if (causes && buttons.length) {
  const kept = form.querySelector("input[name=adopt]");
  let waiting = null;

  function wait(button) {
    waiting = button;
    for (const one of buttons) one.ariaPressed = String(one === waiting);
    forget();
    if (waiting) tell(causes.dataset.causes);
  }

  // Sent by its button, the answer needs no other field.
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
