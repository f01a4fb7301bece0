// Words and sentences of a text, as spans in UTF-16 units, for moving a caret that marks. The browser knows their boundaries
// in every script; blanks and punctuation marks are not words.
export class Words {
  constructor(string, language) {
    this.string = string;
    this.words = new Intl.Segmenter(language, { granularity: "word" }).segment(string);
    this.sentences = new Intl.Segmenter(language, { granularity: "sentence" }).segment(string);
  }

  // The word at a unit; if there is none, the next one, else the one before; null if the text has no word.
  word(unit) {
    return this.forward(unit) ?? this.backward(unit);
  }

  forward(unit) {
    for (let at = Math.max(0, unit); at < this.string.length; ) {
      const { index, segment, isWordLike } = this.words.containing(at);
      if (isWordLike) return [index, index + segment.length];
      at = index + segment.length;
    }
    return null;
  }

  // The last word that starts before a unit.
  backward(unit) {
    for (let at = Math.min(unit, this.string.length) - 1; at >= 0; ) {
      const { index, segment, isWordLike } = this.words.containing(at);
      if (isWordLike) return [index, index + segment.length];
      at = index - 1;
    }
    return null;
  }

  // A span extended to whole words: a selection that begins or ends within a word includes all of it.
  snapped([start, end]) {
    const first = this.words.containing(start);
    const last = this.words.containing(Math.max(start, end - 1));
    return [first?.isWordLike ? first.index : start, last?.isWordLike ? last.index + last.segment.length : end];
  }

  // The sentence at a unit, without trailing blanks.
  sentence(unit) {
    const { index, segment } = this.sentences.containing(Math.min(unit, this.string.length - 1));
    return [index, index + segment.trimEnd().length];
  }

  // `below`: the first word of the next sentence. `above`: the first word of this one or, from there, of the one before.
  below([, end]) {
    const { index, segment } = this.sentences.containing(Math.max(0, end - 1));
    return this.forward(index + segment.length);
  }

  above([start]) {
    const [first] = this.forward(this.sentence(start)[0]) ?? [start];
    if (first < start) return this.forward(first);
    const before = this.backward(start);
    return before && this.forward(this.sentence(before[0])[0]);
  }
}
