// Makes a table that is wider than its frame scrollable by keyboard: while it overflows, its `table-scroll` is focusable,
// with the name of its section. Otherwise it is not, as it would be a needless tab stop.
const watch = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const overflows = target.scrollWidth > target.clientWidth;
    target.tabIndex = overflows ? 0 : -1;
    target.role = overflows ? "group" : null;
    const section = target.parentElement.closest("[aria-labelledby]");
    const heading = section ? document.getElementById(section.getAttribute("aria-labelledby")) : document.querySelector("h1");
    target.ariaLabel = overflows ? heading.textContent.trim() : null;
  }
});
const find = (root) => root.querySelectorAll(".table-scroll").forEach((place) => watch.observe(place));
find(document);
document.addEventListener("htmx:load", (event) => find(event.target));
