// Keeps the fields (not the checkboxes) of a form with `data-draft="name"` in this browser until the server shows them
// saved, and restores them when the page is opened again; leaving with unsent text asks first. `[data-draft-notice]` in
// the form is shown after a restore, and its button `[data-draft-discard]` goes back to what the server has. The rewrite
// page keeps its drafts on the server too: see rewriting/draft.js.
for (const form of document.querySelectorAll("form[data-draft]")) {
  const name = `draft:${form.dataset.draft}`;
  const fields = [...form.elements].filter((field) => field.matches("textarea, input:not([type=hidden], [type=file], [type=password], [type=checkbox])"));
  const values = () => fields.map((field) => field.value);
  const trimmed = (list) => JSON.stringify(list.map((value) => value.trim()));
  const notice = form.querySelector("[data-draft-notice]");
  const served = values();
  let sending = false;

  function fill(list) {
    fields.forEach((field, index) => (field.value = list[index]));
    form.dispatchEvent(new Event("input", { bubbles: true }));
  }

  form.addEventListener("input", () => localStorage.setItem(name, JSON.stringify(values())));
  form.addEventListener("submit", () => (sending = true));
  form.querySelector("[data-draft-discard]")?.addEventListener("click", () => {
    fill(served);
    notice.hidden = true;
  });
  addEventListener("beforeunload", (event) => {
    if (!sending && trimmed(values()) !== trimmed(served)) event.preventDefault();
  });

  const kept = JSON.parse(localStorage.getItem(name) ?? "null");
  if (kept?.length !== fields.length) continue;
  if (trimmed(kept) === trimmed(served)) {
    localStorage.removeItem(name);
    continue;
  }
  fill(kept);
  if (notice) notice.hidden = false;
}
