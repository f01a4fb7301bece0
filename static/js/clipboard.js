// A button with `data-copy="words"` copies them, and says so in its `data-copied` for a moment. It is hidden until this runs,
// and where the browser has no clipboard (it has one only over HTTPS and on this machine).
const reveal = (root) => navigator.clipboard && root.querySelectorAll("[data-copy][hidden]").forEach((button) => (button.hidden = false));
reveal(document);
document.addEventListener("htmx:load", (event) => reveal(event.target));

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button || button.dataset.said) return;
  await navigator.clipboard.writeText(button.dataset.copy);
  const words = [...button.childNodes];
  button.dataset.said = "yes";
  button.replaceChildren(button.dataset.copied);
  setTimeout(() => {
    button.replaceChildren(...words);
    delete button.dataset.said;
  }, 1500);
});
