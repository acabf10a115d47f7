/**
 * All checks that do not run the project: `npm run check` checks everything, `npm run check keys` what a change in one service
 * can affect. Shows each step with its time, and the output of the steps that fail.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { services } from '../generated/operations.ts';

const names = process.argv.slice(2);
for (const name of names)
  if (!(name in services)) {
    console.error(`There is no service ${name}; the services are ${Object.keys(services).join(', ')}.`);
    process.exit(1);
  }

/** The folders of the services to check, or everything. */
function foldersOf(roots: readonly string[]): string[] {
  const folders = names.flatMap((name) => roots.map((root) => `${root}/${name}`));
  return folders.filter((folder) => existsSync(folder));
}

const all = names.length === 0;
const code = all ? ['.'] : foldersOf(['src/services', 'contract-tests']);
const texts = all ? ['.'] : [...code, ...foldersOf(['spec', 'sdk/src/services'])];
const entries = all ? ['spec'] : foldersOf(['spec']);
const documents = names.map((name) => services[name as keyof typeof services].document);

const without = (folder: string) => ['--ignore-pattern', `${folder}/**`];

/** Everything at once takes more memory than Node.js gives a process, because the linter keeps the types of all files that it has read. */
const lints: readonly (readonly [name: string, command: string, ...words: string[]])[] = all
  ? [
      ['lint src', 'eslint', 'src'],
      ['lint tests of the contract and benchmarks', 'eslint', 'contract-tests', 'bench'],
      ['lint the rest', 'eslint', '.', ...['src', 'contract-tests', 'bench'].flatMap(without)],
    ]
  : code.length > 0
    ? [['lint', 'eslint', ...code]]
    : [];

/** The longest steps come first, so that two at a time end early. */
const steps: readonly (readonly [name: string, command: string, ...words: string[]])[] = [
  ...lints,
  // Called by its path, because an older compiler that tests use has a program of the same name.
  ['types', 'node', 'node_modules/typescript/bin/tsc'],
  ...entries.map(
    (entry) => [`contract ${entry}`, 'tsp', 'compile', entry, '--no-emit', '--warn-as-error'] as const,
  ),
  ['documents', 'node', 'spec/lint/documents.ts', ...documents],
  ['imports', 'depcruise', 'src', '--config', '--output-type', 'err'],
  ['formatting', 'prettier', '--check', '--log-level', 'warn', ...texts],
];

/** Returns whether the step succeeded. */
function run([name, command, ...words]: (typeof steps)[number]): Promise<boolean> {
  const started = performance.now();
  return new Promise((resolve) => {
    execFile(`node_modules/.bin/${command}`, words, { maxBuffer: 2 ** 26 }, (error, out, problems) => {
      const seconds = ((performance.now() - started) / 1000).toFixed(0);
      console.log(`${error ? 'failed' : 'ok    '} ${name}, ${seconds} s`);
      if (error) console.log(`${out}${problems}`.trimEnd());
      resolve(!error);
    });
  });
}

const waiting = [...steps];
let failed = false;
async function worker(): Promise<void> {
  for (let step = waiting.shift(); step; step = waiting.shift()) if (!(await run(step))) failed = true;
}
await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, worker));
process.exitCode = failed ? 1 : 0;
