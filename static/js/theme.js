// Light, dark, or as the system has it, from the menu of the header: shown at once, kept for the person on the server, and
// in a cookie for the pages before one has signed in.
const form = document.querySelector("form[data-theme-choice]");
if (form) {
  form.hidden = false;
  form.addEventListener("change", ({ target }) => {
    const secure = location.protocol === "https:" ? "; secure" : "";
    document.cookie = `theme=${target.value}; path=/; max-age=31536000; samesite=lax${secure}`;
    if (target.value) document.documentElement.dataset.theme = target.value;
    else delete document.documentElement.dataset.theme;
    // What cannot reach the server now still holds on this page; the menu says it again next time.
    fetch(form.action, { method: "POST", body: new FormData(form), headers: { accept: "application/json" }, keepalive: true, redirect: "manual" }).catch(() => {});
  });
}
