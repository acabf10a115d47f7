/**
 * The committed list of intended breaks, one per line: `authz POST /v1/roles body.name maxLength | why`. A `*` stands for any
 * text, so that one line can cover the same change to many operations.
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
  /** Lines that cover nothing and never did: they are misspelt, or their break was reverted. */
  readonly useless: readonly Line[];
  /** Lines whose break is part of the contract with which releases are compared. */
  readonly used: readonly Line[];
}

/**
 * Checks the breaks between a base and now. `base` has the lines of the base, and `released` those of the default revision: the
 * breaks of that revision are released, so their lines are no longer needed.
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

/** Returns the file without these lines. Comments stay. */
export const without = (text: string, lines: readonly Line[]): string =>
  text
    .split('\n')
    .filter((line) => !lines.some(({ key }) => line.startsWith(`${key} | `)))
    .join('\n');
