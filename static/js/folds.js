// A fold with an id that a person opened stays open when htmx draws its place anew.
const open = new Set();

document.addEventListener("htmx:beforeSwap", ({ target }) => {
  for (const fold of target.querySelectorAll("details[id]")) open[fold.open ? "add" : "delete"](fold.id);
});
document.addEventListener("htmx:afterSwap", ({ target }) => {
  for (const fold of target.querySelectorAll("details[id]")) if (open.has(fold.id)) fold.open = true;
});
