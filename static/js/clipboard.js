// A button with `data-copy="words"` copies them, and says so in its `data-copied` for a moment.
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button || button.dataset.said) return;
  await navigator.clipboard.writeText(button.dataset.copy);
  button.dataset.said = button.textContent;
  button.textContent = button.dataset.copied;
  setTimeout(() => {
    button.textContent = button.dataset.said;
    delete button.dataset.said;
  }, 1500);
});
