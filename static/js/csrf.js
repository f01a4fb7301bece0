// Signing in again in another tab changes the CSRF token. Each htmx request takes the newest token from the cookie, so that
// a page that was left open keeps working.
document.addEventListener("htmx:configRequest", ({ detail }) => {
  const token = document.cookie.match(/(?:^|; )csrftoken=([^;]+)/)?.[1];
  if (!token) return;
  detail.headers["x-csrftoken"] = token;
  // The server would prefer the form's own field.
  detail.formData.delete("csrfmiddlewaretoken");
});
