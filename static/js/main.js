// The modules of every page, which also works without them; a page's own modules come from the block `scripts`. Each import is
// on one line, because the static storage renames files and rewrites these lines.
import "./keys.js";
import "./frame.js";
import "./forms.js";
import "./time.js";
import "./judging/table.js";
import "./journal.js";
import "./unsent.js";
