// What was begun and not sent, by candidate: a map that a reload does not lose, nor a look at another page. Kept as long as
// the tab is open, for one person and one version of the narrative. `last(map)` is asked before the page goes.
export function kept(name, last = () => {}) {
  const { user, narrative } = JSON.parse(document.getElementById("judging-session").textContent);
  const key = `rejudge.${name}.${user}.${narrative}`;
  const map = new Map(JSON.parse(sessionStorage.getItem(key) ?? "[]"));
  addEventListener("pagehide", () => {
    last(map);
    if (map.size) sessionStorage.setItem(key, JSON.stringify([...map]));
    else sessionStorage.removeItem(key);
  });
  return map;
}
