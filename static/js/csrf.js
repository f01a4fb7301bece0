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
