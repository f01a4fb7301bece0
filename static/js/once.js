// Does not send a form again while it is being sent: a key pressed twice acts once, and no error says that the second time
// failed. Only for a while, because the answer may be a file, and then the page stays.
const WHILE = 5_000;

let sent = new WeakMap(); // form -> when

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (event.defaultPrevented || form.getAttribute("method")?.toLowerCase() !== "post" || form.target) return;
  if (event.timeStamp - (sent.get(form) ?? -WHILE) < WHILE) event.preventDefault();
  else sent.set(form, event.timeStamp);
});

// The browser showed the same page again, from its back button.
addEventListener("pageshow", ({ persisted }) => persisted && (sent = new WeakMap()));
