/**
 * The smallest shift that brings [from, to] into [low, high], with a margin if there is room. What lies outside comes to
 * the middle; what is too large shows its beginning.
 */
export function shiftInto(from: number, to: number, low: number, high: number, margin = 0): number {
  if (to - from > high - low) return from < low || from > (low + high) / 2 ? low - from : 0;
  if (to <= low || from >= high) return (low + high - from - to) / 2;
  const room = Math.min(margin, (high - low - (to - from)) / 2);
  if (from < low) return low + room - from;
  return to > high ? high - room - to : 0;
}
