// Opens and closes dialogs and menus. `data-dialog-open="id"` opens that <dialog>, `data-dialog-close` closes the
// one it is in; buttons that need this script are hidden until it runs. A menu (<details class="menu">) closes on Escape
// and on a click elsewhere, and focuses its first field when it opens.
const reveal = (root) => root.querySelectorAll("[data-dialog-open][hidden]").forEach((button) => (button.hidden = false));
reveal(document);
document.addEventListener("htmx:load", (event) => reveal(event.target));

document.addEventListener("click", (event) => {
  const opener = event.target.closest("[data-dialog-open]");
  if (opener) {
    // The key help is filled when its key opens it, so press that key.
    if (opener.dataset.dialogOpen === "key-help") document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "?", bubbles: true }));
    else document.getElementById(opener.dataset.dialogOpen).showModal();
  }
  event.target.closest("[data-dialog-close]")?.closest("dialog").close();
  if (event.target.matches("dialog")) event.target.close(); // a click on the backdrop
  for (const menu of document.querySelectorAll("details.menu[open]")) if (!menu.contains(event.target)) menu.open = false;
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.isComposing) return;
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    menu.open = false;
    const summary = menu.querySelector("summary");
    summary.focus({ preventScroll: true });
    // A menu that a key opens gives the focus back to the page, whose Enter must not open it again; Tab goes on from here.
    if (summary.dataset.key) summary.blur();
    event.preventDefault();
  }
}, true);

// Called at once when a key opens a menu: `toggle` fires a little later, and letters typed in between would be lost.
export function enterMenu(menu) {
  if (!menu?.matches?.("details.menu[open]")) return;
  const field = menu.querySelector("textarea, input:not([type=hidden])");
  if (!field) return;
  // The whole panel, with the button at its end.
  menu.lastElementChild.scrollIntoView({ block: "nearest" });
  field.focus();
}
document.addEventListener("toggle", (event) => enterMenu(event.target), true);
