// "/" goes to the search, as on other pages of ours. On narrow screens the list of pages starts closed.
const search = document.getElementById("search");
document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, textarea, select");
  if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    search.focus();
  }
});

const contents = document.querySelector("[data-contents]");
const wide = window.matchMedia("(min-width: 60rem)");
const arrange = () => { contents.open = wide.matches; };
wide.addEventListener("change", arrange);
arrange();
