// The modules of every page. Each is one behaviour, and the page also works without it; a page's own modules come from the
// block `scripts`. Each import is on one line, because the static storage renames files and rewrites these lines.
import "./keys.js";
import "./dialog.js";
import "./request-errors.js";
import "./wrong.js";
import "./once.js";
import "./csrf.js";
import "./theme.js";
import "./time.js";
import "./autosubmit.js";
import "./clipboard.js";
import "./draft.js";
import "./scroll.js";
import "./folds.js";
import "./judging/table.js";
import "./journal.js";
import "./unsent.js";
