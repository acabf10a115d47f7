import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const sdk = fileURLToPath(new URL('../', import.meta.url));
const modules = fileURLToPath(new URL('../../node_modules/', import.meta.url));
const run = promisify(execFile);

/** A project that has the package installed as the registry would deliver it: the files named in `files`, and the dependency. */
export interface Project {
  readonly folder: string;
  /** Runs the compiler in the project; throws the compiler's complaints. */
  compile(...args: string[]): Promise<void>;
  /** Does the same with the compiler of a package: `typescript`, or an older version under another name. */
  compileWith(compiler: string, ...args: string[]): Promise<void>;
  remove(): Promise<void>;
}

export async function projectWithPackage(): Promise<Project> {
  const folder = await mkdtemp(join(tmpdir(), 'plinth-sdk-'));
  const installed = join(folder, 'node_modules/@plinth/sdk');
  const compileWith = async (compiler: string, ...args: string[]) => {
    const tsc = join(modules, compiler, 'bin/tsc');
    await run(process.execPath, [tsc, ...args], { cwd: folder }).catch((error: { stdout: string }) => {
      throw new Error(error.stdout);
    });
  };
  const compile = (...args: string[]) => compileWith('typescript', ...args);
  await mkdir(installed, { recursive: true });
  await cp(join(sdk, 'package.json'), join(installed, 'package.json'));
  await mkdir(join(folder, 'node_modules/@types'));
  for (const name of ['openapi-fetch', '@types/node', 'undici-types'])
    await symlink(join(modules, name), join(folder, 'node_modules', name));
  await compile('-p', sdk, '--outDir', join(installed, 'dist'));
  await compile('-p', join(sdk, 'tsconfig.cjs.json'), '--outDir', join(installed, 'dist/cjs'));
  await writeFile(join(installed, 'dist/cjs/package.json'), JSON.stringify({ type: 'commonjs' }));
  return { folder, compile, compileWith, remove: () => rm(folder, { recursive: true }) };
}
