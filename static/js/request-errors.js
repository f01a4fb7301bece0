// Shows in the page's live region when an htmx request failed, with the texts in the region's attributes.
const region = () => document.getElementById("notices");

function say(words, address) {
  const notice = document.createElement("div");
  notice.className = "notice notice--error";
  const text = document.createElement("div");
  text.textContent = words;
  if (address) text.append(" ", Object.assign(document.createElement("a"), { href: address, target: "_blank", textContent: region().dataset.signIn }));
  notice.append(text);
  region().replaceChildren(notice);
}

document.addEventListener("htmx:sendError", () => say(region().dataset.unreachable));
document.addEventListener("htmx:timeout", () => say(region().dataset.unreachable));
document.addEventListener("htmx:responseError", () => say(region().dataset.refused));

// A request that ended on the sign-in page: the session is over, and that page must not be swapped into this one.
document.addEventListener("htmx:beforeSwap", (event) => {
  const address = document.body.dataset.signIn;
  if (new URL(event.detail.xhr.responseURL || location.href).pathname !== address) return;
  event.detail.shouldSwap = false;
  say(region().dataset.signedOut, address);
});
