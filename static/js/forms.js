// The forms of every page: errors, sending once, the CSRF token, sending on change, and drafts.

// After a form was refused: focuses the first invalid field, and scrolls its error into view. Without this a long page opens
// at its top, and looks as if nothing had happened.
function showInvalid(root) {
  const firstInvalid = root.querySelector("form [aria-invalid=true]:not([type=hidden])");
  if (!firstInvalid) {
    // What is wrong with the form as a whole stands above its fields.
    root.querySelector("form .notices[role=alert]")?.scrollIntoView({ block: "center" });
    return;
  }
  const error = firstInvalid.getAttribute("aria-describedby")?.split(" ").map((id) => document.getElementById(id)).find((element) => element?.matches(".errorlist"));
  firstInvalid.focus({ preventScroll: true });
  const scroll = () => requestAnimationFrame(() => (error ?? firstInvalid).scrollIntoView({ block: "center" }));
  // Wait until the page has its final height: fields grow with their content.
  if (document.readyState === "complete") scroll();
  else addEventListener("load", scroll);
}

showInvalid(document);

// A form that stays on its page (components/_in_place.html) has replaced the content: its button, which had the focus, is gone.
// What was done takes the focus, because screen readers do not announce a live region that comes with its words.
document.addEventListener("htmx:load", ({ target }) => {
  if (target.id !== "content") return;
  const said = target.querySelector("#notices:not(:empty)");
  if (said) said.tabIndex = -1;
  (said ?? target).focus({ preventScroll: true });
  // A link that is shown once stands above the form that made it.
  target.querySelector(".link-once")?.scrollIntoView({ block: "center" });
  showInvalid(target);
});

// Does not send a form again while it is being sent: a key pressed twice acts once, and no error says that the second time
// failed. Only for a while, because the answer may be a file, and then the page stays.
const WHILE = 5_000;

let sent = new WeakMap(); // form -> when

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (event.defaultPrevented || form.getAttribute("method")?.toLowerCase() !== "post" || form.target) return;
  if (event.timeStamp - (sent.get(form) ?? -WHILE) < WHILE) event.preventDefault();
  else sent.set(form, event.timeStamp);
});

// The browser showed the same page again, from its back button.
addEventListener("pageshow", ({ persisted }) => persisted && (sent = new WeakMap()));

// Signing in again in another tab changes the CSRF token. Each form and each htmx request takes the newest token from the cookie,
// so that a page that was left open keeps working.
const token = () => document.cookie.match(/(?:^|; )csrftoken=([^;]+)/)?.[1];

document.addEventListener("submit", ({ target }) => {
  const field = target.querySelector("input[name=csrfmiddlewaretoken]");
  if (field && token()) field.value = token();
});

document.addEventListener("htmx:configRequest", ({ detail }) => {
  if (!token()) return;
  detail.headers["x-csrftoken"] = token();
  // The server would prefer the form's own field.
  detail.formData.delete("csrfmiddlewaretoken");
});

// Sends a form with `data-autosubmit` when one of its fields changes, and hides its button, which is then not needed.
const tidy = (root) => root.querySelectorAll("form[data-autosubmit] [data-without-script]").forEach((button) => (button.hidden = true));
tidy(document);
document.addEventListener("htmx:load", (event) => tidy(event.target));
document.addEventListener("change", (event) => event.target.form?.matches("[data-autosubmit]") && event.target.form.requestSubmit());

// A checkbox with `data-tick-all="id"` ticks all checkboxes of that form, and shows whether all are ticked.
const ticked = (all) => [...document.querySelectorAll(`input[type=checkbox][form="${all.dataset.tickAll}"]`)];
const showTickAll = (all) => {
  const boxes = ticked(all);
  all.hidden = !boxes.length;
  all.checked = boxes.every((box) => box.checked);
  all.indeterminate = !all.checked && boxes.some((box) => box.checked);
};
const showEachTickAll = (root) => root.querySelectorAll("[data-tick-all]").forEach(showTickAll);
showEachTickAll(document);
document.addEventListener("htmx:load", (event) => showEachTickAll(event.target));

document.addEventListener("change", ({ target }) => {
  if (target.matches("[data-tick-all]")) ticked(target).forEach((box) => (box.checked = target.checked));
  showEachTickAll(document);
});

// Keeps the fields (not the checkboxes) of a form with `data-draft="name"` in this browser until the server shows them
// saved, and restores them when the page is opened again; leaving with unsent text asks first. `[data-draft-notice]` in
// the form is shown after a restore, and its button `[data-draft-discard]` goes back to what the server has. A hidden field
// `based_on` (the version that the words were begun from) is kept with them, so that nothing is saved over a newer version.
// `data-typed` marks a form that was refused: its words are not saved yet. The rewrite page keeps its drafts on the server
// too: see rewriting/draft.js.
const drafted = new WeakSet(); // forms
let refreshing = false; // by the server's wish, which loses nothing: drafts are restored

function keepDraft(form) {
  if (drafted.has(form)) return;
  drafted.add(form);
  const name = `draft:${form.dataset.draft}`;
  const fields = [...form.elements].filter((field) => field.matches("textarea, input:not([type=hidden], [type=file], [type=password], [type=checkbox])"));
  const base = form.elements.based_on;
  const values = () => fields.map((field) => field.value);
  const store = () => localStorage.setItem(name, JSON.stringify({ values: values(), basedOn: base?.value }));
  const trimmed = (list) => JSON.stringify(list.map((value) => value.trim()));
  const notice = form.querySelector("[data-draft-notice]");
  const served = { values: values(), basedOn: base?.value };
  const refused = "typed" in form.dataset;
  let sending = false;

  function fill(draft) {
    fields.forEach((field, index) => (field.value = draft.values[index]));
    if (base) base.value = draft.basedOn;
    form.dispatchEvent(new Event("input", { bubbles: true }));
  }

  form.addEventListener("input", store);
  form.addEventListener("submit", () => (sending = true));
  form.querySelector("[data-draft-discard]")?.addEventListener("click", () => {
    fill(served);
    notice.hidden = true;
  });
  addEventListener("beforeunload", (event) => {
    // A form that was replaced in its page asks nothing.
    if (form.isConnected && !sending && !refreshing && (refused || trimmed(values()) !== trimmed(served.values))) event.preventDefault();
  });

  if (refused) {
    store();
    return;
  }
  const stored = JSON.parse(localStorage.getItem(name) ?? "null");
  if (stored?.values?.length !== fields.length) return;
  if (trimmed(stored.values) === trimmed(served.values)) {
    localStorage.removeItem(name);
    return;
  }
  fill(stored);
  if (notice) notice.hidden = false;
}

// `[data-draft-saved]` names a draft whose words became a version, and `data-draft-based-on` the version that they were begun from.
for (const { dataset } of document.querySelectorAll("[data-draft-saved]")) {
  const name = `draft:${dataset.draftSaved}`;
  if (JSON.parse(localStorage.getItem(name) ?? "null")?.basedOn === dataset.draftBasedOn) localStorage.removeItem(name);
}

const keepDrafts = (root) => root.querySelectorAll("form[data-draft]").forEach(keepDraft);
keepDrafts(document);
document.addEventListener("htmx:load", (event) => keepDrafts(event.target.parentElement ?? document));
document.addEventListener("htmx:beforeOnLoad", ({ detail }) => (refreshing = detail.xhr.getResponseHeader("HX-Refresh") === "true"));
