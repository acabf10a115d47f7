import { setImmediate as nextTurn } from 'node:timers/promises';

/** A token in a text: a label, and ten or sixteen characters of Crockford's base32. */
const form = /\[([A-Z0-9_]{1,32}_(?:[0-9a-hjkmnp-tv-z]{16}|[0-9a-hjkmnp-tv-z]{10}))\]/g;

/** Finding so many tokens takes about a millisecond. */
const tokensPerTurn = 2_000;

/** Calls for each token in a text, in its order, and lets others go on meanwhile. */
async function eachToken(text: string, call: (token: string, at: number) => void): Promise<void> {
  let count = 0;
  for (const match of text.matchAll(form)) {
    call(match[1]!, match.index);
    if (++count % tokensPerTurn === 0) await nextTurn();
  }
}

/** The tokens in a text, each once. */
export async function tokensIn(text: string): Promise<string[]> {
  const tokens = new Set<string>();
  await eachToken(text, (token) => tokens.add(token));
  return [...tokens];
}

export interface Restored {
  readonly text: string;
  readonly restored: number;
  readonly missing: number;
}

/** Puts originals in place of their tokens; the tokens without one stay. Returns undefined when the text would get too long. */
export async function restored(
  text: string,
  originals: ReadonlyMap<string, string>,
  mostCharacters: number,
): Promise<Restored | undefined> {
  const pieces: string[] = [];
  let { length } = text;
  let at = 0;
  let missing = 0;
  await eachToken(text, (token, start) => {
    const original = originals.get(token);
    if (original === undefined) {
      missing++;
      return;
    }
    const end = start + token.length + '[]'.length;
    pieces.push(text.slice(at, start), original);
    length += original.length - (end - start);
    at = end;
  });
  if (length > mostCharacters) return undefined;
  return { text: pieces.join('') + text.slice(at), restored: pieces.length / 2, missing };
}
