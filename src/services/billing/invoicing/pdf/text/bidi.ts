import createBidi, { type Bidi } from 'bidi-js';

/** A part of a line in one direction. */
export interface Run {
  /** In reading order; brackets of reversed text are mirrored already. */
  readonly text: string;
  readonly isReversed: boolean;
}

interface LevelRun {
  text: string;
  readonly level: number;
}

// The declarations of the library describe its module for bundlers, whose default export is that function.
const algorithm = (createBidi as unknown as () => Bidi)();

/** The bidirectional algorithm of Unicode. */
export const bidi = {
  /** The runs of a line, from left to right. The first letter with a direction decides that of the line. */
  visualRuns(line: string): Run[] {
    const { levels } = algorithm.getEmbeddingLevels(line, 'auto');
    const runs: LevelRun[] = [];
    let at = 0;
    for (const character of line) {
      const level = levels[at]!;
      const shown = level % 2 === 1 ? (algorithm.getMirroredCharacter(character) ?? character) : character;
      const last = runs.at(-1);
      if (last?.level === level) last.text += shown;
      else runs.push({ text: shown, level });
      at += character.length;
    }
    return reordered(runs).map(({ text, level }) => ({ text, isReversed: level % 2 === 1 }));
  },
};

/** Reverses what is on or above each level, from the highest to the lowest odd one. */
function reordered(runs: readonly LevelRun[]): LevelRun[] {
  const ordered = [...runs];
  for (let level = Math.max(...runs.map((run) => run.level)); level > 0; level--)
    for (let from = 0; from < ordered.length; from++) {
      let to = from;
      while (to < ordered.length && ordered[to]!.level >= level) to++;
      if (to === from) continue;
      ordered.splice(from, to - from, ...ordered.slice(from, to).reverse());
      from = to;
    }
  return ordered;
}
