// Shows every <time data-local="datetime|date|time"> in the reader's own zone, with the day left out if it is today.
const language = document.documentElement.lang;
const formats = {
  datetime: new Intl.DateTimeFormat(language, { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", hourCycle: "h23" }),
  date: new Intl.DateTimeFormat(language, { day: "numeric", month: "short", year: "numeric" }),
  time: new Intl.DateTimeFormat(language, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" }),
  today: new Intl.DateTimeFormat(language, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" }),
};

function localise(root) {
  for (const element of root.querySelectorAll("time[data-local]")) {
    const moment = new Date(element.dateTime);
    const today = element.dataset.local === "datetime" && moment.toDateString() === new Date().toDateString();
    element.textContent = formats[today ? "today" : element.dataset.local].format(moment);
    element.title = moment.toLocaleString(language, { dateStyle: "full", timeStyle: "long" });
  }
}

localise(document);
document.addEventListener("htmx:load", (event) => localise(event.target.parentElement ?? document));
