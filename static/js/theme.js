// Light, dark, or the system's theme, from the menu in the header: applied at once, saved for the person on the server, and
// in a cookie for pages before signing in.
const form = document.querySelector("form[data-theme-choice]");
if (form) {
  form.hidden = false;
  form.addEventListener("change", ({ target }) => {
    const secure = location.protocol === "https:" ? "; secure" : "";
    document.cookie = `theme=${target.value}; path=/; max-age=31536000; samesite=lax${secure}`;
    if (target.value) document.documentElement.dataset.theme = target.value;
    else delete document.documentElement.dataset.theme;
    // If the server cannot be reached, the choice still applies on this page and in the cookie.
    fetch(form.action, { method: "POST", body: new FormData(form), headers: { accept: "application/json" }, keepalive: true, redirect: "manual" }).catch(() => {});
  });
}
