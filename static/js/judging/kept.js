// A map, by candidate, of what was begun and not sent. It survives a reload and a visit to another page, as long as the tab
// is open, for one person and one narrative version. `last(map)` is called before the page is left.
export function sessionMap(name, last = () => {}) {
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
