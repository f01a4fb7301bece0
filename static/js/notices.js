// Says in the page's live region when a request of htmx came to nothing, in the words that the region itself carries.
const region = () => document.getElementById("notices");

function say(words) {
  const notice = document.createElement("div");
  notice.className = "notice notice--error";
  const text = document.createElement("div");
  text.textContent = words;
  notice.append(text);
  region().replaceChildren(notice);
}

document.addEventListener("htmx:sendError", () => say(region().dataset.unreachable));
document.addEventListener("htmx:timeout", () => say(region().dataset.unreachable));
document.addEventListener("htmx:responseError", () => say(region().dataset.refused));

// A request that ended on the sign-in page: the session is over, and that page is no fragment of this one.
document.addEventListener("htmx:beforeSwap", (event) => {
  if (new URL(event.detail.xhr.responseURL || location.href).pathname !== document.body.dataset.signIn) return;
  event.detail.shouldSwap = false;
  say(region().dataset.signedOut);
});
