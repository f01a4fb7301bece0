// The modules of the judge page, in the order in which they run.
import "./page.js";
import "./asked.js";
import "./conditions.js";
import "./evidence.js";
import "./read.js";
import "./place.js";
