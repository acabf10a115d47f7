import { execFile } from 'node:child_process';
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { projectWithPackage, type Project } from './package.ts';

const sdk = new URL('../', import.meta.url);
const checks = '--noEmit --strict --exactOptionalPropertyTypes --target ES2022 --module NodeNext'.split(' ');
const libraries = ['--lib', 'ES2022,DOM,DOM.Iterable,DOM.AsyncIterable'];

const threeCalls = `
const role = await roles.create({ body: { name: 'Editor' } });
for await (const { id } of roles.list()) console.log(id);
await roles.delete({ roleId: role.id });
`;
const oneService = `
import { authz, createClient } from '@plinth/sdk';
const { roles } = authz(createClient({ baseUrl: 'http://127.0.0.1:4000' }));
${threeCalls}`;
const threeServices = `
import { createClient } from '@plinth/sdk';
import { authz } from '@plinth/sdk/authz';
import { keys } from '@plinth/sdk/keys';
import { storage } from '@plinth/sdk/storage';
const client = createClient({ baseUrl: 'http://127.0.0.1:4000' });
const role = await authz(client).roles.create({ body: { name: 'Editor' } });
for await (const { id } of keys(client).keys.list()) console.log(id);
console.log((await storage(client).objects.get({ bucket: 'photos', key: role.id })).status);
`;
const allServices = `
import { createPlinth } from '@plinth/sdk';
const { roles } = createPlinth({ baseUrl: 'http://127.0.0.1:4000' }).authz;
${threeCalls}`;

/** A program that uses most of the types. */
const usage = `
import { createPlinth, isPlinthError } from '@plinth/sdk';
import { authz } from '@plinth/sdk/authz';
const plinth = createPlinth({ baseUrl: 'http://127.0.0.1:4000', token: 'token' });
export async function use(): Promise<string> {
  for await (const role of plinth.authz.roles.list()) console.log(role.id, typeof authz);
  for await (const event of plinth.agents.agents.stream({ name: 'support', body: { input: 'x' } })) console.log(event.event);
  try {
    await plinth.authz.roles.get({ roleId: 'role_1' });
  } catch (error) {
    if (isPlinthError(error)) console.log(error.status, error.headers?.get('X-Request-ID'));
  }
  const file = await plinth.storage.objects.get({ bucket: 'a', key: 'b' });
  return file.text();
}
`;

const run = promisify(execFile);

let project: Project;
beforeAll(async () => {
  project = await projectWithPackage();
}, 300_000);
afterAll(() => project.remove());

/** Compiles programs that use the package as others do, with its declarations checked too. */
async function compile(programs: Map<string, string>): Promise<void> {
  for (const [name, text] of programs) await writeFile(join(project.folder, name), text);
  await project.compile(...checks, ...libraries, ...programs.keys());
}

/** Returns each TypeScript block of a text. The blocks share the client, and each has its own declarations. */
function examples(text: string): string {
  const blocks = [...text.matchAll(/```ts\n(.*?)```/gs)].map(([, block = '']) =>
    block.replaceAll(/^ *\* ?/gm, ''),
  );
  const imports = blocks.flatMap((block) => block.match(/^import .*$/gm) ?? []);
  const bodies = blocks.map(
    (block) => `await (async () => {\n${block.replaceAll(/^import .*$/gm, '')}\n})();`,
  );
  return `${[...new Set(imports)].join('\n')}
declare const plinth: import('@plinth/sdk').Plinth;
declare const baseUrl: string;
declare const token: string;
${bodies.join('\n')}
export {};`;
}

describe('the package', () => {
  it('has a README and pages whose code compiles', async () => {
    const pages = await readdir(new URL('docs/', sdk));
    const names = ['README.md', ...pages.map((page) => `docs/${page}`)];
    const texts = await Promise.all(names.map((name) => readFile(new URL(name, sdk), 'utf8')));
    const programs = texts.map((text, at): [string, string] => [`page-${at}.mts`, examples(text)]);
    expect(programs.join().match(/plinth\./g)?.length).toBeGreaterThan(600);
    await compile(new Map(programs));
  });

  it('has doc comments whose examples compile', async () => {
    const folder = new URL('src/services/', sdk);
    const names = (await readdir(folder, { recursive: true })).filter(
      (name) => /\.ts$/.test(name) && !/types\.ts$/.test(name),
    );
    const texts = await Promise.all(names.map((name) => readFile(new URL(name, folder), 'utf8')));
    const programs = texts.map((text, at): [string, string] => [`docs-${at}.mts`, examples(text)]);
    await compile(new Map(programs));
  });

  it('refuses examples that are wrong, so that the two tests above can fail', async () => {
    const wrong = examples('```ts\nawait plinth.authz.roles.get({ role: 1 });\n```');
    await expect(compile(new Map([['wrong.mts', wrong]]))).rejects.toThrow("'role' does not exist");
  });

  const inBrowsers = { lib: ['ES2022', 'DOM', 'DOM.Iterable'], types: [] };
  it.each([
    ['typescript', 'node16', 'node16', ['program.mts', 'program.cts'], { lib: ['ES2022'], types: ['node'] }],
    ['typescript', 'esnext', 'bundler', ['program.ts'], inBrowsers],
    // The oldest version that the package supports.
    ['typescript-5.4', 'esnext', 'bundler', ['program.ts'], inBrowsers],
  ])(
    'has types for %s with --module %s --moduleResolution %s',
    async (compiler, module, moduleResolution, files, surroundings) => {
      const options = { strict: true, noEmit: true, target: 'es2022', module, moduleResolution };
      for (const name of files) await writeFile(join(project.folder, name), usage);
      const config = { compilerOptions: { ...options, ...surroundings }, files };
      await writeFile(join(project.folder, 'tsconfig.json'), JSON.stringify(config));
      await project.compileWith(compiler, '-p', 'tsconfig.json');
    },
  );

  it('is there for programs that require it', async () => {
    const program = `
      const { createPlinth, isPlinthError } = require('@plinth/sdk');
      const { authz } = require('@plinth/sdk/authz');
      createPlinth({ baseUrl: 'http://127.0.0.1:1', retries: 0 }).authz.roles.list().catch((error) =>
        console.log(typeof authz, isPlinthError(error), error.kind, error.operation),
      );`;
    await writeFile(join(project.folder, 'program.cjs'), program);
    const { stdout } = await run(process.execPath, ['program.cjs'], { cwd: project.folder });
    expect(stdout).toBe('function true connection authz.roles.list\n');
  });

  it('needs nothing but the web platform and openapi-fetch', async () => {
    const { metafile } = await build({
      stdin: { contents: allServices, resolveDir: project.folder },
      bundle: true,
      platform: 'neutral',
      mainFields: ['module', 'main'],
      format: 'esm',
      write: false,
      metafile: true,
      preserveSymlinks: true,
    });
    const packages = Object.keys(metafile.inputs).map(
      (path) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1],
    );
    expect(new Set(packages)).toEqual(new Set(['@plinth/sdk', 'openapi-fetch', undefined]));
  });

  it('puts only the services that are imported into a bundle', async () => {
    // A path that only this service has.
    const marks = {
      authz: '/v1/roles',
      keys: '/v1/scopes',
      storage: '/store/v1/buckets',
      billing: '/billing/plans',
      auth: '/v1/auth/signin',
    };
    const present = (text: string) =>
      Object.entries(marks).flatMap(([service, mark]) => (text.includes(mark) ? [service] : []));
    expect(present(await bundle(oneService))).toEqual(['authz']);
    expect(present(await bundle(threeServices))).toEqual(['authz', 'keys', 'storage']);
    expect(present(await bundle(allServices))).toEqual(Object.keys(marks));
  });

  it.each([
    ['three calls to one service', oneService, 8_300],
    ['three calls to three services', threeServices, 9_200],
    ['a client of all services', allServices, 17_000],
  ])('makes a small bundle of %s', async (name, program, most) => {
    const text = await bundle(program);
    const size = gzipSync(text).length;
    console.info(`${name}: ${text.length} bytes minified, ${size} with gzip`);
    // The size of the client for a page; if the client becomes larger, check what was added.
    expect(size).toBeLessThan(most);
  });

  it('puts nothing into a bundle that uses nothing of it', async () => {
    expect(await bundle("import '@plinth/sdk';")).toBe('');
  });
});

/**
 * Returns a program with everything that it loads at once, minified. Code that is imported later, such as that of workers, is not
 * counted.
 */
async function bundle(contents: string): Promise<string> {
  const { outputFiles, metafile } = await build({
    stdin: { contents, resolveDir: project.folder, sourcefile: 'program.js' },
    bundle: true,
    splitting: true,
    outdir: project.folder,
    metafile: true,
    minify: true,
    format: 'esm',
    write: false,
    logLevel: 'error',
    preserveSymlinks: true,
  });
  const loaded = new Set<string>();
  const load = (name: string): void => {
    if (loaded.has(name)) return;
    loaded.add(name);
    for (const { path, kind } of metafile.outputs[name]!.imports) if (kind === 'import-statement') load(path);
  };
  load(
    Object.keys(metafile.outputs).find(
      (name) => metafile.outputs[name]!.entryPoint !== undefined && basename(name) === 'stdin.js',
    )!,
  );
  const text = ({ path }: { path: string }) => [...loaded].some((name) => path.endsWith(basename(name)));
  return outputFiles
    .filter(text)
    .map((file) => file.text.trim())
    .join('\n');
}
