// Keeps a <details> with an id open, if the person opened it, when htmx replaces the part of the page around it.
const open = new Set();

document.addEventListener("htmx:beforeSwap", ({ target }) => {
  for (const fold of target.querySelectorAll("details[id]")) open[fold.open ? "add" : "delete"](fold.id);
});
document.addEventListener("htmx:afterSwap", ({ target }) => {
  for (const fold of target.querySelectorAll("details[id]")) if (open.has(fold.id)) fold.open = true;
});
