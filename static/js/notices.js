// Shows a notice in the page's own region for it (`[data-notices]`, else the notices of the page). A notice with `stays` stays
// until it is closed; `clearNotices()` removes the others, `clearNotices(sentence)` only those with that sentence. The same sentence is shown only once.
const place = () => document.querySelector("[data-notices]") ?? document.getElementById("notices");

export function showNotice(sentence, { kind = "info", stays = false, action = null } = {}) {
  const region = place();
  if (!region || [...region.children].some((notice) => notice.dataset.sentence === sentence)) return;
  const notice = document.createElement("div");
  notice.className = `notice notice--${kind}`;
  notice.dataset.sentence = sentence;
  const words = document.createElement("p");
  words.textContent = sentence;
  if (action) words.append(" ", action);
  notice.append(document.createElement("div"));
  notice.firstChild.append(words);
  if (stays) {
    const close = Object.assign(document.createElement("button"), { type: "button", className: "button button--plain button--small" });
    close.textContent = document.querySelector("[data-unsent]").dataset.close;
    close.onclick = () => notice.remove();
    notice.append(close);
  } else {
    notice.dataset.passes = "";
  }
  region.append(notice);
}

// Shows why nothing was done, in place of what was said before.
export function warn(sentence) {
  clearNotices();
  showNotice(sentence, { kind: "warning" });
}

export function clearNotices(...sentences) {
  for (const notice of place()?.querySelectorAll("[data-passes]") ?? []) {
    if (!sentences.length || sentences.includes(notice.dataset.sentence)) notice.remove();
  }
}
