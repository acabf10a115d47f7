/** The parts of a document that state facts: its sections and their tables. */

export type Row = Readonly<Record<string, string>>;

export interface Section {
  /** For example `Endpoints`. */
  readonly chapter: string;
  /** The letters of the services that the section covers: `B` and `C` in `### B and C`. */
  readonly letters: readonly string[];
  /** The heading within the service's section; empty before the first heading. */
  readonly heading: string;
  readonly text: string;
  readonly tables: readonly (readonly Row[])[];
}

export function sections(markdown: string): Section[] {
  const found: Section[] = [];
  for (const [chapter, body] of split(markdown, '## '))
    for (const [title, part] of split(body, '### '))
      for (const [heading, text] of split(part, '#### '))
        found.push({ chapter, letters: letters(title), heading, text, tables: tables(text) });
  return found;
}

/** Returns the text before the first heading of the level, under an empty name, and then each heading with its text. */
function split(text: string, mark: string): [string, string][] {
  const [before = '', ...rest] = `\n${text}`.split(`\n${mark}`);
  return [
    ['', before],
    ...rest.map((part): [string, string] => {
      const end = `${part}\n`.indexOf('\n');
      return [part.slice(0, end), part.slice(end + 1)];
    }),
  ];
}

const letters = (title: string): string[] =>
  /^([A-F](?:(?:, | and )[A-F])*)(?:\.|$|,| \()/.exec(title)?.[1]?.split(/, | and /) ??
  /^[A-F]\b/.exec(title)?.slice(0, 1) ??
  [];

function tables(text: string): Row[][] {
  const blocks = text
    .split(/\n(?!\|)/)
    .map((block) => block.split('\n').filter((line) => line.startsWith('|')));
  return blocks.filter((lines) => lines.length > 2).map(table);
}

function table([head = '', , ...lines]: readonly string[]): Row[] {
  const names = cells(head);
  return lines.map((line) => {
    const values = cells(line);
    return Object.fromEntries(names.map((name, index) => [name, values[index] ?? '']));
  });
}

/** A vertical bar within a cell is written `\|`. */
const cells = (line: string): string[] =>
  line
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.replaceAll('\\|', '|').trim());
