import type { Scan } from '../recognition/scan.ts';

/**
 * A cue and what follows it, each word at most 31 characters: a name of one to four words, with particles between them. All
 * repetitions are bounded, so a search takes time linear in the text.
 */
const cues =
  "my name is|i am called|name:|ich heiße|ich heisse|mein name ist|je m'appelle|me llamo|mi nombre es|mi chiamo|meu nome é|chamo-me|" +
  'mr\\.?|mrs\\.?|ms\\.?|dr\\.?|prof\\.?|herr|frau|madame|monsieur|mme\\.?|señor|señora|sr\\.|sra\\.';
const word = "\\p{Lu}[\\p{L}\\p{M}'’-]{1,30}";
const particle = '(?: (?:de|da|di|del|della|van|von|der|den|la|le|el|al|bin|ibn|y)){0,2}';
const cue = new RegExp(`(?<![\\p{L}\\p{N}])(?:${cues}) {1,2}(?=\\p{L})`, 'giu');
const name = new RegExp(`^${word}(?:${particle} ${word}){0,3}`, 'u');
const longestName = 160;
const sliceLength = 8_192;

/** Recognises names behind a cue. It is a pass of its own, since cues are words and not characters. */
export async function recogniseNames(scan: Scan, pause: () => Promise<void>): Promise<void> {
  const { text } = scan;
  for (let from = 0; from < text.length; from += sliceLength) {
    const slice = text.slice(Math.max(0, from - 1), from + sliceLength + 32);
    for (const match of slice.matchAll(cue)) {
      const start = Math.max(0, from - 1) + match.index + match[0].length;
      const found = name.exec(text.slice(start, start + longestName))?.[0];
      if (found !== undefined)
        scan.add('pii.person_name', start, start + found.length, found.normalize('NFC'));
    }
    await pause();
  }
}
