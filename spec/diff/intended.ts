/**
 * The committed list of breaks that are meant: `authz POST /v1/roles body.name maxLength | why`, one a line. A `*` stands
 * for anything, so that one line can say what one cause does to many operations.
 */
export interface Line {
  readonly key: string;
  readonly reason: string;
}

export function parseIntended(text: string): Line[] {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
    .map((line) => {
      const [key = '', ...reason] = line.split(' | ');
      const said = reason.join(' | ').trim();
      if (said === '') throw new Error(`${line}: needs a reason, as in "${key.trim()} | why"`);
      return { key: key.trim(), reason: said };
    });
}

export function covers({ key }: Line, name: string): boolean {
  const parts = key.split('*').map((part) => part.replaceAll(/[\\^$.|?*+()[\]{}]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`, 'u').test(name);
}

export interface Verdict {
  /** Names of breaks that no line covers. */
  readonly unintended: readonly string[];
  /** Lines that cover nothing and never did: misspelt, or their break was taken back. */
  readonly useless: readonly Line[];
  /** Lines whose break is in the contract that releases are compared with. */
  readonly used: readonly Line[];
}

/**
 * Judges the breaks between a base and now. `base` are the lines that the base had, `released` those of the revision that
 * is compared with by default: what that revision had is done, and need not be said any longer.
 */
export function judgeIntended(
  names: readonly string[],
  lines: readonly Line[],
  base: readonly Line[],
  released: readonly Line[],
): Verdict {
  const idle = lines.filter((line) => !names.some((name) => covers(line, name)));
  const within = (list: readonly Line[], { key }: Line) => list.some((one) => one.key === key);
  return {
    unintended: names.filter((name) => !lines.some((line) => covers(line, name))),
    useless: idle.filter((line) => !within(base, line)),
    used: idle.filter((line) => within(base, line) && within(released, line)),
  };
}

/** The file without these lines; comments stay. */
export const without = (text: string, lines: readonly Line[]): string =>
  text
    .split('\n')
    .filter((line) => !lines.some(({ key }) => line.startsWith(`${key} | `)))
    .join('\n');
