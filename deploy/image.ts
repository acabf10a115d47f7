/**
 * Copies what a server needs into a folder, and nothing else: `node deploy/image.ts <folder>`. The dependencies are taken as they are
 * installed, so run `npm prune --omit=dev` before.
 */
import { cp } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('Name a folder: node deploy/image.ts <folder>');

/** What the server reads. The built documentation is optional. */
const parts = [
  'package.json',
  'LICENSE',
  'bin',
  'src',
  'generated',
  'tsp-output/openapi',
  'sdk/package.json',
  'sdk/src',
  'site/dist',
  'node_modules',
];

/** Files that no server reads: tests and what only they use, the mock, and whatever else packages publish beside their programs. */
const leftOut = [
  /\.test\.ts$/,
  /^src\/(.*\/)?(testing|fixtures?|corpus)(\/|$)/,
  /^src\/(.*\/)?testing(\.store)?\.ts$/,
  /^src\/mock(\/|$)/,
  /^node_modules\/(.*\/)?\.[^/]+(\/|$)/,
  /^node_modules\/(plinth|@plinth)(\/|$)/,
  /^node_modules\/.*\.(map|ts|mts|cts|md|markdown|tsbuildinfo|tgz)$/,
  /^node_modules\/((@[^/]+\/)?[^/]+\/)+(test|tests|__tests__|docs|example|examples|bench|benchmark)(\/|$)/,
  /^node_modules\/@opentelemetry\/[^/]+\/(build|dist)\/(esm|esnext)(\/|$)/,
  /^node_modules\/@fontsource\/[^/]+\/(?!files(\/|$)|package\.json$|LICENSE$)/,
  // Invoices are set in the weights 400 and 600, upright.
  /^node_modules\/@fontsource\/[^/]+\/files\/(?!.*-(400|600)-normal\.woff$)[^/]+$/,
  /^node_modules\/pdfkit\/js\/pdfkit\.standalone\.js$/,
  /^node_modules\/libphonenumber-js\/(bundle|source|es6|examples|mobile)(\/|$)/,
  /^node_modules\/(.*\/)?prebuilds\/(?!linux-)/,
];

/** Kept although a pattern leaves it out. */
const needed = [/^node_modules\/.*\/LICENSE/];

for (const part of parts) {
  const from = join(root, part);
  if (!existsSync(from)) continue;
  await cp(from, join(resolve(folder), part), {
    recursive: true,
    // Links lead to the workspaces, which are copied as themselves.
    filter: (path) => {
      const name = relative(root, path);
      return needed.some((form) => form.test(name)) || !leftOut.some((form) => form.test(name));
    },
  });
}
