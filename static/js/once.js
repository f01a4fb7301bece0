// A form that is on its way is not sent again: a key pressed twice does the thing once, and nobody is told that it could not be
// done a second time. For a while only: the answer may be a file, and then the page stays.
const WHILE = 5_000;

let sent = new WeakMap(); // form -> when

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (event.defaultPrevented || form.getAttribute("method")?.toLowerCase() !== "post" || form.target) return;
  if (event.timeStamp - (sent.get(form) ?? -WHILE) < WHILE) event.preventDefault();
  else sent.set(form, event.timeStamp);
});

// The same page again, with the browser's way back.
addEventListener("pageshow", ({ persisted }) => persisted && (sent = new WeakMap()));
