// All that the judge page runs, in this order.
import "./page.js";
import "./asked.js";
import "./conditions.js";
import "./evidence.js";
import "./read.js";
import "./place.js";
