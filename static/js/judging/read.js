// Reading aids for a document: marked words of the query, and a search in the text.
import "./marks.js";
import "./find.js";
