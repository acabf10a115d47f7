import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { derive, outputs, root } from './derive.ts';

// The committed files come from another run, so the comparison also shows that every run derives the same.
describe('what is committed follows from the TypeSpec', () => {
  let derived: Map<string, string>;
  beforeAll(async () => {
    derived = await derive();
  }, 300_000);

  it('holds every derived file, byte for byte (if not: npm run generate)', () => {
    const stale = [...derived].filter(([name, text]) => readFileSync(join(root, name), 'utf8') !== text);
    expect(stale.map(([name]) => name)).toEqual([]);
  });

  it('holds no file that nothing derives any more', () => {
    const present = outputs.flatMap((output) =>
      readdirSync(join(root, output), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name).slice(root.length)),
    );
    expect(present.filter((name) => !derived.has(name))).toEqual([]);
  });
});
