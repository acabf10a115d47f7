/** `npm run generate`: writes the files derived from the TypeSpec, and deletes those that are no longer derived. */
import { mkdirSync, readFileSync, readdirSync, rmSync, rmdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { derive, outputs, root } from './derive.ts';

await exclusively(async () => {
  const files = await derive();
  removeOrphans(files);
  const changed = [...files].filter(([name, text]) => write(join(root, name), text));
  console.log(`${files.size} files generated, ${changed.length} changed`);
});

function removeOrphans(files: Map<string, string>): void {
  for (const output of outputs) {
    mkdirSync(join(root, output), { recursive: true });
    for (const entry of readdirSync(join(root, output), { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      if (entry.isFile() && !files.has(path.slice(root.length))) rmSync(path);
    }
  }
}

/** Writes only files that differ, so that watchers and builds see only real changes. */
function write(path: string, text: string): boolean {
  mkdirSync(dirname(path), { recursive: true });
  const differs = !same(path, text);
  if (differs) writeFileSync(path, text);
  return differs;
}

function same(path: string, text: string): boolean {
  try {
    return readFileSync(path, 'utf8') === text;
  } catch {
    return false;
  }
}

/** Holds a lock during a run: two concurrent runs would delete each other's files. */
async function exclusively(run: () => Promise<void>): Promise<void> {
  const lock = join(root, 'node_modules/.cache/generate.lock');
  mkdirSync(dirname(lock), { recursive: true });
  try {
    mkdirSync(lock);
  } catch (cause) {
    throw new Error(`another run is under way; if none is, delete ${lock}`, { cause });
  }
  try {
    await run();
  } finally {
    rmdirSync(lock);
  }
}
