// What every page does. Each module is one behaviour that the page also works without; a page's own modules come
// through the block `scripts`. Imports keep to one line: the static storage renames files and rewrites these lines.
import "./keys.js";
import "./dialog.js";
import "./notices.js";
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
