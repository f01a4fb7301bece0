// Shows every <time data-local="datetime|date|time"> in the reader's zone: the one they chose (`data-time-zone` of the
// page), else the browser's. The day is left out if it is today. `clock` is for scripts that show a moment themselves.
const { lang: language, dataset } = document.documentElement;

function known(zone) {
  try {
    return Intl.DateTimeFormat(language, { timeZone: zone }).resolvedOptions().timeZone;
  } catch {
    return undefined; // a zone that this browser has not heard of: its own
  }
}

export const zone = dataset.timeZone ? known(dataset.timeZone) : undefined;
const day = { day: "numeric", month: "short", year: "numeric" };
const hour = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
const format = (parts, timeZone) => new Intl.DateTimeFormat(language, { ...parts, timeZone });
const formats = { datetime: format({ ...day, ...hour }, zone), date: format(day, zone), time: format({ ...hour, second: "2-digit" }, zone), today: format(hour, zone) };

/** A moment (a Date) in words: style is datetime, date or time. */
export function clock(moment, style = "time") {
  const today = style === "datetime" && formats.date.format(moment) === formats.date.format(new Date());
  return formats[today ? "today" : style].format(moment);
}

/** A moment in a zone that need not be the reader's; null for a zone that the browser does not know. */
export function clockIn(moment, name) {
  const other = name ? known(name) : known(undefined);
  return other ? format({ ...day, ...hour }, other).format(moment) : null;
}

function localise(root) {
  for (const element of root.querySelectorAll("time[data-local]")) {
    const moment = new Date(element.dateTime);
    element.textContent = clock(moment, element.dataset.local);
    element.title = moment.toLocaleString(language, { dateStyle: "full", timeStyle: "long", timeZone: zone });
  }
}

localise(document);
document.addEventListener("htmx:load", (event) => localise(event.target.parentElement ?? document));
