const counts = new Uint16Array(128);

/** Shannon's entropy of a short text in bits per character; characters beyond ASCII count as one. */
export function entropy(text: string): number {
  counts.fill(0);
  for (let at = 0; at < text.length; at++) counts[Math.min(127, text.charCodeAt(at))]!++;
  let bits = 0;
  for (const count of counts) if (count > 0) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}
