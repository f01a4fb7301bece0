// Holds the keys that are pressed before the page listens, and replays them once it does: in order, each one once. A page
// listens when all its modules have run and no element on it has `data-keys-wait`.
// This is a classic script at the top of <head>: modules run only after the whole page has arrived.
(() => {
  const TEXT = "textarea, select, input:not([type=radio], [type=checkbox], [type=button], [type=submit], [type=file], [type=hidden])";
  const NAMED = ["Enter", "Escape", "Backspace", "ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"];
  const held = [];
  let modulesRan = false;
  let isSpaceHeld = false;

  const isWaiting = () => !modulesRan || document.querySelector("[data-keys-wait]") !== null;
  const isArrow = (key) => key.startsWith("Arrow");

  // A key that the browser or a text field handles is not held; the same exceptions as in keys.js.
  function canBeHeld(event) {
    const { key, target } = event;
    if (!event.isTrusted || event.repeat || event.isComposing || event.keyCode === 229) return false;
    if (target.isContentEditable || target.matches(TEXT)) return false;
    if (event.ctrlKey || event.altKey || event.metaKey) {
      // Ctrl+Enter sends the words that were typed before it; AltGr types a letter.
      return event.getModifierState("AltGraph") || (key === "Enter" && held.length > 0);
    }
    // After held keys, Space and Enter belong to their words: the button that was clicked before must not be pressed again.
    if ([" ", "Enter"].includes(key) && target.matches("a, button, summary, input") && !held.length) return false;
    if (isArrow(key) && target.matches("[role=region], [role=group], input[type=radio]")) return false;
    return key.length === 1 || NAMED.includes(key);
  }

  function replay({ key, code, shiftKey, ctrlKey, metaKey, modifierCapsLock }) {
    const target = document.activeElement ?? document.body;
    const event = new KeyboardEvent("keydown", { key, code, shiftKey, ctrlKey, metaKey, modifierCapsLock, bubbles: true, cancelable: true, composed: true });
    if (!target.dispatchEvent(event)) return;
    // No module handled it: do what the browser does when a key is really pressed.
    if (target.matches(TEXT)) write(key);
    else if ([" ", "Enter"].includes(key) && target.matches("a, button, summary")) target.click();
    else if (key === "Escape") [...document.querySelectorAll("dialog[open]")].at(-1)?.close();
  }

  function write(key) {
    if (key === "Backspace") document.execCommand("delete");
    else if (key === "Enter") document.execCommand("insertLineBreak");
    else if (key.length === 1) document.execCommand("insertText", false, key);
  }

  function release() {
    while (held.length && !isWaiting()) replay(held.shift());
  }

  addEventListener("keydown", (event) => {
    if (!canBeHeld(event) || !isWaiting()) return;
    const { key, code, shiftKey } = event;
    const isAltGraph = event.getModifierState("AltGraph");
    // The arrows and a first Space still scroll: few pages use them otherwise.
    const scrolls = isArrow(key) || (key === " " && !held.length);
    held.push({ key, code, shiftKey, ctrlKey: event.ctrlKey && !isAltGraph, metaKey: event.metaKey, modifierCapsLock: event.getModifierState("CapsLock") });
    event.stopImmediatePropagation();
    if (scrolls) return;
    event.preventDefault();
    if (key === " ") isSpaceHeld = true;
  }, true);

  // A button may also be pressed by the end of the key.
  addEventListener("keyup", (event) => {
    if (event.key !== " " || !isSpaceHeld) return;
    event.preventDefault();
    isSpaceHeld = false;
  }, true);

  // Runs after every module of the page; a module that waits for something keeps `data-keys-wait` on the page until then.
  document.addEventListener("DOMContentLoaded", () => {
    modulesRan = true;
    release();
  });
  new MutationObserver(release).observe(document, { subtree: true, attributes: true, attributeFilter: ["data-keys-wait"] });
})();
