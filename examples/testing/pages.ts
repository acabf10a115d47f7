/** The pages of the documentation, as the blocks of code that they show. */
import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the project. */
export const root = fileURLToPath(new URL('../..', import.meta.url));

interface Block {
  /** What follows the fence: the language, and a name if a test of its own runs the block. */
  readonly fence: string;
  readonly text: string;
}

export interface Page {
  readonly file: string;
  readonly text: string;
  readonly blocks: readonly Block[];
  /** The text of the block with this fence. */
  textOf(fence: string): string;
  /** The text of the block after the one with this fence. */
  textAfter(fence: string): string;
  /** Each block with this fence, and the block that follows it if that shows what it prints. */
  commands(fence: string): readonly { script: string; printed: Block | undefined }[];
}

/** Reads a page, for example `docs/mock.md`. */
export async function readPage(file: string): Promise<Page> {
  const text = await readFile(join(root, file), 'utf8');
  const blocks = [...text.matchAll(/^```([^\n]*)\n(.*?)^```$/gms)].map(([, fence = '', shown = '']) => ({
    fence,
    text: shown,
  }));
  const at = (fence: string, further = 0): string => {
    const place = blocks.findIndex((block) => block.fence === fence);
    const block = place === -1 ? undefined : blocks[place + further];
    if (block === undefined) throw new Error(`${file} has no such block: ${fence}`);
    return block.text;
  };
  return {
    file,
    text,
    blocks,
    textOf: (fence) => at(fence),
    textAfter: (fence) => at(fence, 1),
    commands: (fence) =>
      blocks.flatMap((block, place) => {
        if (block.fence !== fence) return [];
        const next = blocks[place + 1];
        return [{ script: block.text, printed: /^(json|text)$/.test(next?.fence ?? '') ? next : undefined }];
      }),
  };
}

/** The files of all pages that are written by hand. */
export async function pageFiles(): Promise<string[]> {
  const entries = await readdir(join(root, 'docs'), { recursive: true, withFileTypes: true });
  const pages = entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.md'))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));
  return ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md', ...pages.sort()];
}
