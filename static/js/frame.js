// The frame of every page: dialogs and menus, errors of requests, the theme, copying, wide tables and folds. Each of these is one
// behaviour, and the page also works without it.

// Opens and closes dialogs and menus. `data-dialog-open="id"` opens that <dialog>, `data-dialog-close` closes the
// one it is in; buttons that need this script are hidden until it runs. A menu (<details class="menu">) closes on Escape
// and on a click elsewhere, and focuses its first field when it opens.
const revealOpeners = (root) => root.querySelectorAll("[data-dialog-open][hidden]").forEach((button) => (button.hidden = false));
revealOpeners(document);
document.addEventListener("htmx:load", (event) => revealOpeners(event.target));

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

// Shows in the page's live region when an htmx request failed, with the texts in the region's attributes.
const noticesOfPage = () => document.getElementById("notices");

function sayFailed(words, address) {
  const notice = document.createElement("div");
  notice.className = "notice notice--error";
  const text = document.createElement("div");
  text.textContent = words;
  if (address) text.append(" ", Object.assign(document.createElement("a"), { href: address, target: "_blank", textContent: noticesOfPage().dataset.signIn }));
  notice.append(text);
  noticesOfPage().replaceChildren(notice);
}

document.addEventListener("htmx:sendError", () => sayFailed(noticesOfPage().dataset.unreachable));
document.addEventListener("htmx:timeout", () => sayFailed(noticesOfPage().dataset.unreachable));
document.addEventListener("htmx:responseError", () => sayFailed(noticesOfPage().dataset.refused));

// A request that ended on the sign-in page: the session is over, and that page must not be swapped into this one.
document.addEventListener("htmx:beforeSwap", (event) => {
  const address = document.body.dataset.signIn;
  const signIn = new URL(address, location.href).pathname;
  if (new URL(event.detail.xhr.responseURL || location.href).pathname !== signIn) return;
  event.detail.shouldSwap = false;
  sayFailed(noticesOfPage().dataset.signedOut, address);
});

// Light, dark, or the system's theme, from the menu in the header: applied at once, saved for the person on the server, and
// in a cookie for pages before signing in.
const themeChoice = document.querySelector("form[data-theme-choice]");
if (themeChoice) {
  themeChoice.hidden = false;
  themeChoice.addEventListener("change", ({ target }) => {
    const secure = location.protocol === "https:" ? "; secure" : "";
    document.cookie = `theme=${target.value}; path=/; max-age=31536000; samesite=lax${secure}`;
    if (target.value) document.documentElement.dataset.theme = target.value;
    else delete document.documentElement.dataset.theme;
    // If the server cannot be reached, the choice still applies on this page and in the cookie.
    fetch(themeChoice.action, { method: "POST", body: new FormData(themeChoice), headers: { accept: "application/json" }, keepalive: true, redirect: "manual" }).catch(() => {});
  });
}

// A button with `data-copy="words"` copies them and shows its `data-copied` text for a moment. It is hidden until this runs,
// and stays hidden if the browser has no clipboard (browsers offer it only over HTTPS and on localhost).
const revealCopying = (root) => navigator.clipboard && root.querySelectorAll("[data-copy][hidden]").forEach((button) => (button.hidden = false));
revealCopying(document);
document.addEventListener("htmx:load", (event) => revealCopying(event.target));

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button || button.dataset.showing) return;
  // Browsers may refuse it, for example to a window that is not in front.
  const isCopied = await navigator.clipboard.writeText(button.dataset.copy).then(() => true, () => false);
  const words = [...button.childNodes];
  button.dataset.showing = "yes";
  button.replaceChildren(isCopied ? button.dataset.copied : "Not copied: the browser refused");
  setTimeout(() => {
    button.replaceChildren(...words);
    delete button.dataset.showing;
  }, 1500);
});

// Makes a table that is wider than its frame scrollable by keyboard: while it overflows, its `table-scroll` is focusable,
// with the name of its section. Otherwise it is not, as it would be a needless tab stop.
const overflow = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const overflows = target.scrollWidth > target.clientWidth;
    target.tabIndex = overflows ? 0 : -1;
    target.role = overflows ? "group" : null;
    const section = target.parentElement.closest("[aria-labelledby]");
    const heading = section ? document.getElementById(section.getAttribute("aria-labelledby")) : document.querySelector("h1");
    target.ariaLabel = overflows ? heading.textContent.trim().replace(/\s+/g, " ") : null;
  }
});
const watchTables = (root) => root.querySelectorAll(".table-scroll").forEach((place) => overflow.observe(place));
watchTables(document);
document.addEventListener("htmx:load", (event) => watchTables(event.target));

// Keeps a <details> with an id open, if the person opened it, when htmx replaces the part of the page around it.
const opened = new Set();

document.addEventListener("htmx:beforeSwap", ({ target }) => {
  for (const fold of target.querySelectorAll("details[id]")) opened[fold.open ? "add" : "delete"](fold.id);
});
document.addEventListener("htmx:afterSwap", ({ target }) => {
  for (const fold of target.querySelectorAll("details[id]")) if (opened.has(fold.id)) fold.open = true;
});
