// Returns whether the whole element is visible without scrolling.
export function inSight(element) {
  const { top, bottom } = element.getBoundingClientRect();
  return top >= 0 && bottom <= innerHeight;
}
