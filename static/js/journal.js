// The journal: keeps a person's answers in this browser until the server has them. An entry is written here first
// (IndexedDB) and then sent, oldest first. If the network, the browser or the page goes away in between, the next page that
// is opened sends the waiting entries. Every entry has a UUID, so that sending it twice changes nothing. Entries of another
// person in this browser are neither sent nor shown. An entry that the server refuses is kept, with the server's sentence,
// until the person tries again or discards it.
//
// `journal` dispatches events for this tab and the others: "entry" {entry} for a new entry, "answer" {entry, answer} when
// the server has answered, "gone" {entry} when an entry was discarded, "status" when `status` has changed.
export const journal = new EventTarget();
export const status = { state: "", waiting: 0, refused: 0, savedAt: null, savedUndo: false, unkept: false };

const ADDRESS = "/api/v1/journal/";
const BATCH = 50;
const BYTES = 1_000_000;
const LONGEST_PAUSE = 60_000;
const TIMEOUT = 30_000; // for one answer
// While the server does not answer, a new entry triggers another attempt, but not more often than this.
const MIN_PAUSE = 5_000;
// Saved entries are kept for this long, for pages that were rendered before they were saved.
const KEPT = 120_000;

const user = Number(document.body.dataset.user) || null;
const channel = new BroadcastChannel("rejudge-journal");

// --- the store ------------------------------------------------------------------------------------

const memory = new Map(); // uuid -> row, if the browser stores nothing
const waitsInMemory = () => [...memory.values()].some((row) => row.state === "waiting");
let opened = null;

function promiseOf(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

function database() {
  opened ??= (async () => {
    const request = indexedDB.open("rejudge", 1);
    request.onupgradeneeded = () => {
      const entries = request.result.createObjectStore("entries", { keyPath: "seq", autoIncrement: true });
      entries.createIndex("uuid", "uuid", { unique: true });
      entries.createIndex("state", "state");
    };
    const db = await promiseOf(request);
    const gone = () => (opened = null);
    db.onversionchange = () => gone(db.close());
    db.onclose = gone; // the person cleared the site's data
    return db;
  })();
  opened.catch(() => (opened = null)); // the next time it may open
  return opened;
}

// Runs `work` on the store in one transaction, and returns its result once the transaction is on the disk.
async function transact(mode, work) {
  const db = await database();
  return new Promise((resolve, reject) => {
    const transaction = db.transaction("entries", mode, { durability: "strict" });
    const request = work(transaction.objectStore("entries"));
    // Not left to the browser, which commits after the answers to the requests: if the tab is closed before, it aborts.
    transaction.commit();
    transaction.oncomplete = () => resolve(request?.result);
    transaction.onabort = () => reject(transaction.error);
  });
}

// Stores rows one after the other: an undoing must not be stored, and sent, before its answer.
let lastStored = Promise.resolve();

function store(row) {
  lastStored = lastStored.then(() => storeNow(row));
  return lastStored;
}

// If the browser refuses to store anything (a private window, a full disk), entries stay in memory and the page says so. So do
// those that follow until these are sent, as stored ones are sent first.
async function storeNow(row) {
  const isStored = !waitsInMemory() && (await transact("readwrite", (entries) => entries.add(row)).then(() => true, () => false));
  if (!isStored) memory.set(row.uuid, { ...row, seq: Infinity });
}

async function rows(state) {
  const found = await transact("readonly", (entries) => entries.index("state").getAll(state)).catch(() => []);
  found.sort((one, other) => one.seq - other.seq);
  return [...found, ...memory.values()].filter((row) => row.user === user && row.state === state);
}

async function update(changes) {
  const stored = changes.filter((row) => !memory.has(row.uuid));
  for (const row of changes) if (memory.has(row.uuid)) memory.set(row.uuid, row);
  if (stored.length) await transact("readwrite", (entries) => void stored.forEach((row) => entries.put(row)));
}

// Puts rows after all others, so that they are sent last.
async function moveToEnd(moved) {
  const stored = moved.filter((row) => !memory.delete(row.uuid));
  for (const row of moved) if (!stored.includes(row)) memory.set(row.uuid, row);
  const move = (entries) => {
    for (const { seq, ...row } of stored) {
      entries.delete(seq);
      entries.add(row);
    }
  };
  if (stored.length) await transact("readwrite", move);
}

async function remove(gone) {
  const stored = gone.filter((row) => !memory.delete(row.uuid));
  if (stored.length) await transact("readwrite", (entries) => void stored.forEach((row) => entries.delete(row.seq)));
}

// --- for pages ------------------------------------------------------------------------------------

export function uuid() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, "$1-$2-$3-$4-$5");
}

// Keeps an entry, resolves when it is on the disk, and then sends it. `about` describes it in words of the page:
// {label: the document, answer}.
export async function add(entry, about) {
  // From now on the page does not show that everything is saved.
  storing.add(entry.uuid);
  refresh();
  await store({ uuid: entry.uuid, user: entry.user, state: "waiting", entry, about });
  storing.delete(entry.uuid);
  broadcast({ type: "entry", entry });
  refresh();
  startSending();
}

// The entries that `isOurs` accepts and that a page cannot have known when it was rendered, oldest first.
export async function entriesSinceLoad(isOurs) {
  const since = performance.timeOrigin;
  const saved = (await rows("saved")).filter((row) => row.savedAt >= since);
  const all = [...saved, ...(await rows("waiting"))].filter((row) => isOurs(row.entry));
  return all.sort((one, other) => one.seq - other.seq).map((row) => row.entry);
}

// The entries that the server refused: [{uuid, entry, about, sentence}].
export const refused = () => rows("refused");

// Sends refused entries again, after those that wait: the one with this UUID, or all.
export async function retry(uuid = null) {
  const chosen = (await refused()).filter((row) => uuid === null || row.uuid === uuid);
  await moveToEnd(chosen.map((row) => ({ ...row, state: "waiting", sentence: "" })));
  for (const { entry } of chosen) broadcast({ type: "entry", entry });
  refresh();
  startSending(true);
}

export async function discard(uuid) {
  const row = (await refused()).find((one) => one.uuid === uuid);
  if (!row) return;
  await remove([row]);
  broadcast({ type: "gone", entry: row.entry });
  refresh();
}

// --- the tabs of one browser ----------------------------------------------------------------------

function broadcast(message) {
  channel.postMessage({ ...message, user });
  receive(message);
}

function receive(message) {
  if (message.type === "answers") {
    for (const { entry, answer } of message.answers) {
      if (answer.state === "saved") [status.savedAt, status.savedUndo] = [answer.at, entry.undoes !== undefined];
      journal.dispatchEvent(new CustomEvent("answer", { detail: { entry, answer } }));
    }
  } else if (message.type === "state") {
    status.state = message.state;
  } else {
    journal.dispatchEvent(new CustomEvent(message.type, { detail: { entry: message.entry } }));
  }
}

channel.onmessage = ({ data }) => {
  if (data.user !== user) return;
  receive(data);
  refresh();
};

const storing = new Set(); // the UUIDs of entries of this tab that are being written to the disk
let refreshing = false;
let outdated = false;

async function refresh() {
  status.waiting = Math.max(status.waiting, storing.size);
  if (storing.size) journal.dispatchEvent(new Event("status"));
  outdated = true;
  if (refreshing) return;
  refreshing = true;
  while (outdated) {
    outdated = false;
    const waiting = new Set(storing);
    for (const row of await rows("waiting")) waiting.add(row.uuid);
    for (const uuid of storing) waiting.add(uuid);
    status.waiting = waiting.size;
    status.unkept = waitsInMemory();
    status.refused = (await rows("refused")).length;
    if (!status.waiting) status.state = "";
    journal.dispatchEvent(new Event("status"));
  }
  refreshing = false;
}

// --- sending --------------------------------------------------------------------------------------

let timer = 0;
let sending = false;
let again = false;
let failures = 0;
let lastAttempt = 0;
let batchSize = BATCH;

const pause = () => Math.min(LONGEST_PAUSE, 1000 * 2 ** (failures - 1)) * (0.75 + Math.random() / 2);

// Sends the waiting entries: at once or, if the last attempt failed, only if `now` or after a while.
function startSending(now = false) {
  if (!user) return;
  if (sending) {
    again = true;
    return;
  }
  if (failures && !now && Date.now() - lastAttempt < MIN_PAUSE) return;
  clearTimeout(timer);
  sending = true;
  again = false;
  // Two tabs that send at the same time do no harm, only double work.
  const done = navigator.locks ? navigator.locks.request("rejudge-journal", sendAll) : sendAll();
  done.catch((error) => {
    failures += 1;
    throw error;
  }).finally(() => {
    sending = false;
    refresh();
    if (failures) timer = setTimeout(() => startSending(true), pause());
    else if (again) startSending();
  });
}

async function sendAll() {
  for (;;) {
    const batch = nextBatch(await rows("waiting"));
    if (!batch.length) {
      failures = 0;
      break;
    }
    lastAttempt = Date.now();
    const state = await send(batch);
    if (status.state !== state) broadcast({ type: "state", state });
    failures = state ? failures + 1 : 0;
    if (state) break;
  }
  await remove((await rows("saved")).filter((row) => row.savedAt < Date.now() - KEPT));
}

function nextBatch(waiting) {
  const batch = [];
  let bytes = 0;
  for (const row of waiting.slice(0, batchSize)) {
    bytes += JSON.stringify(row.entry).length;
    if (batch.length && bytes > BYTES) break;
    batch.push(row);
  }
  return batch;
}

// Signing in again in any tab changes the token: the newest is in the cookie.
const token = () => document.cookie.match(/(?:^|; )csrftoken=([^;]+)/)?.[1] ?? "";

async function post(body) {
  const sent = token();
  const answer = await fetch(ADDRESS, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json", "x-csrftoken": sent },
    body,
    signal: AbortSignal.timeout(TIMEOUT),
  });
  return answer.status === 403 && token() !== sent ? post(body) : answer;
}

// Sends one batch and records the answers. Returns the reason not to send the next batch; "" for none.
async function send(batch) {
  let answer;
  let found;
  try {
    answer = await post(JSON.stringify({ entries: batch.map((row) => row.entry) }));
    if (answer.ok && !answer.redirected) found = [...(await answer.json()).answers];
  } catch {
    return navigator.onLine ? "unreachable" : "offline";
  }
  if (answer.redirected || [401, 403].includes(answer.status)) return "signed_out";
  if (answer.status === 503 && (await answer.json().catch(() => ({}))).code === "disk_full") return "disk_full";
  if (!answer.ok && ![400, 413, 422].includes(answer.status)) return "unreachable";
  if (!answer.ok) {
    // An entry that the server cannot read must not block the others: find it by sending them one by one.
    if (batch.length > 1) {
      batchSize = 1;
      return "";
    }
    found = [{ uuid: batch[0].uuid, state: "refused", at: null, sentence: "" }];
  }
  batchSize = BATCH;
  const byUuid = new Map(found.map((one) => [one.uuid, one]));
  const answered = batch.filter((row) => ["saved", "refused"].includes(byUuid.get(row.uuid)?.state));
  await update(
    answered.map((row) => {
      const { state, sentence } = byUuid.get(row.uuid);
      return state === "saved" ? { ...row, state, savedAt: Date.now() } : { ...row, state, sentence };
    }),
  );
  broadcast({ type: "answers", answers: answered.map((row) => ({ entry: row.entry, answer: byUuid.get(row.uuid) })) });
  // Somebody else is signed in now: the other entries wait for their author.
  return answered.length === batch.length ? "" : "other_person";
}

addEventListener("online", () => startSending(true));
addEventListener("focus", () => startSending(failures > 0));
document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && startSending(true));
addEventListener("beforeunload", (event) => {
  if (waitsInMemory()) event.preventDefault();
});
if (user) {
  refresh();
  startSending();
}
