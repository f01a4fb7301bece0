// Nothing typed is lost. A form with `data-draft="name"` keeps its fields in this browser until the server shows them
// saved, and brings them back when the page is opened again; leaving with unsent words asks first.
// `data-draft-base` names what the words were based on (a version). What stands within `data-once` starts afresh when the
// base is another (a note on one version, ticks). `[data-draft-notice]` in the form is shown when words came back, its button
// `[data-draft-discard]` goes back to what the server has.
const TICKS = "[type=checkbox], [type=radio]";

for (const form of document.querySelectorAll("form[data-draft]")) {
  const name = `draft:${form.dataset.draft}`;
  const base = form.dataset.draftBase ?? "";
  const fields = [...form.elements].filter((field) => field.matches("textarea, select, input:not([type=hidden], [type=file], [type=password])"));
  const read = (field) => (field.matches(TICKS) ? field.checked : field.value);
  const write = (field, value) => (field.matches(TICKS) ? (field.checked = value) : (field.value = value));
  const once = (index) => fields[index].closest("[data-once]");
  const lasting = (values) => JSON.stringify(values.filter((_, index) => !once(index)).map((value) => (value.trim ? value.trim() : value)));
  const notice = form.querySelector("[data-draft-notice]");
  const served = fields.map(read);
  let sending = false;

  function fill(values) {
    fields.forEach((field, index) => write(field, values[index]));
    form.dispatchEvent(new Event("input", { bubbles: true }));
  }

  form.addEventListener("input", () => localStorage.setItem(name, JSON.stringify({ base, values: fields.map(read) })));
  form.addEventListener("submit", () => (sending = true));
  form.querySelector("[data-draft-discard]")?.addEventListener("click", () => {
    fill(served);
    notice.hidden = true;
  });
  addEventListener("beforeunload", (event) => {
    if (!sending && lasting(fields.map(read)) !== lasting(served)) event.preventDefault();
  });

  const kept = JSON.parse(localStorage.getItem(name) ?? "null");
  if (!kept || kept.values.length !== fields.length) continue;
  const changed = lasting(kept.values) !== lasting(served);
  if (!changed && kept.base !== base) localStorage.removeItem(name);
  else fill(kept.base === base ? kept.values : kept.values.map((value, index) => (once(index) ? served[index] : value)));
  if (changed && notice) notice.hidden = false;
}
