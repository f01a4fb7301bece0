// Signing in again in another tab changes the token that requests must carry: each request of htmx takes the newest from
// the cookie, so that a page left open goes on where it was.
document.addEventListener("htmx:configRequest", ({ detail }) => {
  const token = document.cookie.match(/(?:^|; )csrftoken=([^;]+)/)?.[1];
  if (!token) return;
  detail.headers["x-csrftoken"] = token;
  // The form's own field would be looked at first.
  detail.formData.delete("csrfmiddlewaretoken");
});
