// A button with `data-copy="words"` copies them and shows its `data-copied` text for a moment. It is hidden until this runs,
// and stays hidden if the browser has no clipboard (browsers offer it only over HTTPS and on localhost).
const reveal = (root) => navigator.clipboard && root.querySelectorAll("[data-copy][hidden]").forEach((button) => (button.hidden = false));
reveal(document);
document.addEventListener("htmx:load", (event) => reveal(event.target));

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button || button.dataset.showing) return;
  await navigator.clipboard.writeText(button.dataset.copy);
  const words = [...button.childNodes];
  button.dataset.showing = "yes";
  button.replaceChildren(button.dataset.copied);
  setTimeout(() => {
    button.replaceChildren(...words);
    delete button.dataset.showing;
  }, 1500);
});
