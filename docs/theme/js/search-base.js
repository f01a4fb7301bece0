// The search's own script reads where the documentation lies from this global name.
window.base_url = document.documentElement.dataset.base;
