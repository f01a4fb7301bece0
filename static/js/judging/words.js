// Words and sentences of a text, as spans in UTF-16 units: what a caret that marks moves by. The browser knows where they
// end in every script; a word is what one can read, not a blank or a mark of punctuation.
export class Words {
  constructor(string, language) {
    this.string = string;
    this.words = new Intl.Segmenter(language, { granularity: "word" }).segment(string);
    this.sentences = new Intl.Segmenter(language, { granularity: "sentence" }).segment(string);
  }

  // The word at a unit; where none is, the next one, else the one before. null: the text has no word.
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

  // The word that ends at a unit or before it.
  backward(unit) {
    for (let at = Math.min(unit, this.string.length) - 1; at >= 0; ) {
      const { index, segment, isWordLike } = this.words.containing(at);
      if (isWordLike) return [index, index + segment.length];
      at = index - 1;
    }
    return null;
  }

  // A span widened to whole words: a selection that begins or ends within a word takes all of it.
  snapped([start, end]) {
    const first = this.words.containing(start);
    const last = this.words.containing(Math.max(start, end - 1));
    return [first?.isWordLike ? first.index : start, last?.isWordLike ? last.index + last.segment.length : end];
  }

  // The sentence at a unit, without the blanks behind it.
  sentence(unit) {
    const { index, segment } = this.sentences.containing(Math.min(unit, this.string.length - 1));
    return [index, index + segment.trimEnd().length];
  }

  // The first word of the next sentence, and of this one or, from there, of the one before.
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
