// What helps to read a document: the words of the query marked, and a search in the text.
import "./marks.js";
import "./find.js";
