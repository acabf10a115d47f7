import { Dictionary } from '../keywords/dictionary.ts';
import type { Pace } from '../pace.ts';
import { attackRules } from '../rules/built-in.ts';
import type { TextViews } from '../views/text-views.ts';
import type { Reading } from '../views/readings.ts';

/** Shorter words occur by chance. */
const shortest = 6;

const dictionary = new Dictionary();
const kinds: ('reversed' | 'rotated')[][] = [];

function add(term: string, kind: 'reversed' | 'rotated'): void {
  const number = dictionary.add(term);
  if (number !== undefined) (kinds[number] ??= []).push(kind);
}

/** Words of the rules for attacks, written backwards or rotated, tell that it is worth to read the whole text that way. */
for (const term of new Set(attackRules.rules.flatMap(({ steps }) => steps.flat()))) {
  if (!/^[a-z]+$/.test(term) || term.length < shortest) continue;
  add([...term].reverse().join(''), 'reversed');
  add(
    term.replace(/[a-z]/g, (letter) => String.fromCharCode(((letter.charCodeAt(0) - 84) % 26) + 97)),
    'rotated',
  );
}

/** The text read backwards, or with rotated letters, if it has words that are written so. */
export async function turned(views: TextViews, pace: Pace): Promise<Reading[]> {
  const found = new Set<'reversed' | 'rotated'>();
  await dictionary.findWords(views.folded, pace, (term) => {
    for (const kind of kinds[term]!) found.add(kind);
  });
  const readings: Reading[] = [];
  for (const kind of found) readings.push(await views[kind]());
  return readings;
}
