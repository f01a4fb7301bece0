// A map, by candidate, of what was begun and not sent, for one person, one task and one narrative version. Each change is stored at once:
// it survives a reload, a visit to another page and a crash, as long as the tab is open or the browser restores it.
class SessionMap extends Map {
  #key;

  constructor(key) {
    super();
    this.#key = key;
    for (const [candidate, begun] of JSON.parse(sessionStorage.getItem(key) ?? "[]")) super.set(candidate, begun);
  }

  set(candidate, begun) {
    super.set(candidate, begun);
    this.#store();
    return this;
  }

  delete(candidate) {
    const found = super.delete(candidate);
    if (found) this.#store();
    return found;
  }

  #store() {
    if (this.size) sessionStorage.setItem(this.#key, JSON.stringify([...this]));
    else sessionStorage.removeItem(this.#key);
  }
}

export function sessionMap(name) {
  const { user, narrative = "", task = "judge" } = JSON.parse(document.getElementById("judging-session").textContent);
  return new SessionMap(`rejudge.${name}.${user}.${task}.${narrative}`);
}
