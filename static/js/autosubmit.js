// Sends a form with `data-autosubmit` when one of its fields changes, and hides its button, which is then not needed.
const tidy = (root) => root.querySelectorAll("form[data-autosubmit] [data-without-script]").forEach((button) => (button.hidden = true));
tidy(document);
document.addEventListener("htmx:load", (event) => tidy(event.target));
document.addEventListener("change", (event) => event.target.form?.matches("[data-autosubmit]") && event.target.form.requestSubmit());
