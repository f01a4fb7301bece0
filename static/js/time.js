// Shows every <time data-local="datetime|date|time"> in the reader's zone: the one they chose (`data-time-zone` of the
// page), else the browser's. The date is left out if it is today. `clock` is for scripts that show a time themselves.
const { lang: language, dataset } = document.documentElement;

function known(zone) {
  try {
    return Intl.DateTimeFormat(language, { timeZone: zone }).resolvedOptions().timeZone;
  } catch {
    return undefined; // this browser does not know the zone: use its own
  }
}

export const zone = dataset.timeZone ? known(dataset.timeZone) : undefined;
const hour = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
const format = (parts, timeZone) => new Intl.DateTimeFormat(language, { ...parts, timeZone });

// Formats a date as the server does: both appear on the same page.
function days(timeZone) {
  const parts = format({ day: "numeric", month: "short", year: "numeric" }, timeZone);
  return (moment) => {
    const found = Object.fromEntries(parts.formatToParts(moment).map(({ type, value }) => [type, value]));
    return `${found.day} ${found.month} ${found.year}`;
  };
}

const date = days(zone);
const time = format({ ...hour, second: "2-digit" }, zone);
const minute = format(hour, zone);

/** A time (a Date) as text: style is datetime, date or time. */
export function clock(moment, style = "time") {
  if (style === "time") return time.format(moment);
  if (style === "date") return date(moment);
  return date(moment) === date(new Date()) ? minute.format(moment) : `${date(moment)}, ${minute.format(moment)}`;
}

/** A time in a zone that need not be the reader's; null for a zone that the browser does not know. */
export function clockIn(moment, name) {
  const other = name ? known(name) : known(undefined);
  return other ? `${days(other)(moment)}, ${format(hour, other).format(moment)}` : null;
}

export function localise(root) {
  for (const element of root.querySelectorAll("time[data-local]")) {
    const moment = new Date(element.dateTime);
    element.textContent = clock(moment, element.dataset.local);
    element.title = moment.toLocaleString(language, { dateStyle: "full", timeStyle: "long", timeZone: zone });
  }
}

localise(document);
document.addEventListener("htmx:load", (event) => localise(event.target.parentElement ?? document));
