import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { create } from 'fontkit';
import type { FaceOf } from '../text/pieces.ts';
import { isWoff, unpacked } from './woff.ts';

export type Weight = 'regular' | 'strong';

/** A font for some scripts, in two weights. */
export interface Face {
  readonly files: Readonly<Record<Weight, Buffer>>;
  readonly characters: ReadonlySet<number>;
}

/** The fonts of a process. They do not change, so documents share them; parsed fonts remember what they drew and are never shared. */
export interface Faces {
  readonly list: readonly Face[];
  readonly faceOf: FaceOf;
}

/** The bundled fonts, the most used first, because that one draws what several have. */
const bundled = [
  ...['latin', 'latin-ext', 'greek', 'greek-ext', 'cyrillic', 'cyrillic-ext', 'vietnamese', 'devanagari'].map(
    (script) => `@fontsource/noto-sans/files/noto-sans-${script}`,
  ),
  '@fontsource/noto-sans-hebrew/files/noto-sans-hebrew-hebrew',
  '@fontsource/noto-sans-arabic/files/noto-sans-arabic-arabic',
];

const { resolve } = createRequire(import.meta.url);

/**
 * Loads the bundled fonts and an additional one for what they lack.
 * @param extra the path of a font file; empty if there is none
 */
export async function loadFaces(extra: string): Promise<Faces> {
  const list: Face[] = [];
  for (const name of bundled) {
    list.push(await loadFace(resolve(`${name}-400-normal.woff`), resolve(`${name}-600-normal.woff`)));
    await nextTurn();
  }
  if (extra !== '') list.push(await loadFace(extra, extra));
  return { list, faceOf: faceAmong(list) };
}

async function loadFace(regularPath: string, strongPath: string): Promise<Face> {
  const regular = await load(regularPath);
  const strong = strongPath === regularPath ? regular : await load(strongPath);
  return { files: { regular, strong }, characters: new Set(create(regular).characterSet) };
}

async function load(path: string): Promise<Buffer> {
  const file = await readFile(path);
  return isWoff(file) ? unpacked(file) : file;
}

/** Blanks and marks: the font of the character before them draws them, too, so that it can place them and words stay together. */
const following = /[\s\p{M}\p{Default_Ignorable_Code_Point}]/u;

function faceAmong(list: readonly Face[]): FaceOf {
  const found = new Map<string, number | undefined>();
  const firstOf = (character: string) => {
    const at = list.findIndex(({ characters }) => characters.has(character.codePointAt(0)!));
    return at < 0 ? undefined : at;
  };
  return (character, current) => {
    if (current !== undefined && following.test(character))
      if (list[current]!.characters.has(character.codePointAt(0)!)) return current;
    // The characters that fonts have are few; those that none has could be any.
    if (!found.has(character)) {
      const face = firstOf(character);
      if (face === undefined) return undefined;
      found.set(character, face);
    }
    return found.get(character);
  };
}
