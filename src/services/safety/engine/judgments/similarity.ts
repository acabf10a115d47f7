import type { Pace } from '../pace.ts';
import { folded } from '../views/folding.ts';
import type { View } from '../views/view.ts';

const dimensions = 65_536;
const unitsPerStep = 8_192;

/** How much a text differs from a question, by the sequences of 3 characters that they share: from 0 to 1. */
export async function dissimilarity(question: string, view: View, pace: Pace): Promise<number> {
  const [a, b] = [await vectorOf(await folded(question, pace), pace), await vectorOf(view, pace)];
  let product = 0;
  let [lengthA, lengthB] = [0, 0];
  for (let index = 0; index < dimensions; index++) {
    product += a[index]! * b[index]!;
    lengthA += a[index]! ** 2;
    lengthB += b[index]! ** 2;
  }
  if (lengthA === 0 || lengthB === 0) return 1;
  return 1 - Math.min(1, (2 * product) / Math.sqrt(lengthA * lengthB));
}

/** The logarithm of the frequency of each sequence, by its hash. */
async function vectorOf({ codes }: View, pace: Pace): Promise<Float64Array> {
  const vector = new Float64Array(dimensions);
  await pace.through(0, Math.max(0, codes.length - 2), unitsPerStep, (from, to) => {
    for (let at = from; at < to; at++) {
      const hash = Math.imul(Math.imul(codes[at]!, 31) + codes[at + 1]!, 0x9e3779b1) + codes[at + 2]!;
      vector[(Math.imul(hash, 0x85ebca6b) >>> 16) & (dimensions - 1)]! += 1;
    }
  });
  return vector.map((count) => (count === 0 ? 0 : 1 + Math.log(count)));
}
