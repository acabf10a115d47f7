/** The README, as the blocks of code that it shows. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the README. */
export const root = fileURLToPath(new URL('../..', import.meta.url));
const readme = await readFile(join(root, 'README.md'), 'utf8');

interface Block {
  language: string;
  text: string;
}
export const blocks: Block[] = [...readme.matchAll(/^```(\S+(?: \S+)?)\n(.*?)^```$/gms)].map((match) => ({
  language: match[1] ?? '',
  text: match[2] ?? '',
}));

/** Each shell block with the JSON block that follows it, if one does. */
export function examples(language: string): { script: string; printed: unknown }[] {
  return blocks.flatMap((block, at) => {
    if (block.language !== language) return [];
    const next = blocks[at + 1];
    return [
      {
        script: block.text,
        printed: next?.language === 'json' ? (JSON.parse(next.text) as unknown) : undefined,
      },
    ];
  });
}

const placeOf = (language: string) => blocks.findIndex((block) => block.language === language);
export const textOf = (language: string): string => blocks[placeOf(language)]?.text ?? '';
/** The block after the one of this language. */
export const textAfter = (language: string): string => blocks[placeOf(language) + 1]?.text ?? '';
