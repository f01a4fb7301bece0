// Light, dark, or as the system has it: kept in a cookie, so that the server can say it before the first paint.
const choice = document.querySelector("[data-theme-choice]");
if (choice) {
  choice.hidden = false;
  choice.addEventListener("change", ({ target }) => {
    const secure = location.protocol === "https:" ? "; secure" : "";
    document.cookie = `theme=${target.value}; path=/; max-age=31536000; samesite=lax${secure}`;
    if (target.value) document.documentElement.dataset.theme = target.value;
    else delete document.documentElement.dataset.theme;
  });
}
