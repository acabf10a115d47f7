/**
 * Carries out the steps of the Dockerfile where no container engine runs: its build stage in a fresh folder, and its last stage in
 * another that becomes the root of the file system, for a user who may write nowhere but in `/data`. Then the server has to start,
 * to be healthy, to do what the examples ask, and to end when it is told to.
 */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, cp, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { freePort } from '../src/testing/free-port.ts';
import { ready } from './running.ts';

const mostMegabytes = 250;
/** What gcr.io/distroless/cc-debian12 holds: the C and C++ libraries, certificates and time zones. */
const baseMegabytes = 24;

interface Stage {
  readonly name: string;
  readonly steps: readonly (readonly [instruction: string, rest: string])[];
}

function stagesOf(dockerfile: string): Stage[] {
  const lines = dockerfile.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const steps = lines.map(
    (line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)] as const,
  );
  const starts = steps.flatMap(([instruction], at) => (instruction === 'FROM' ? [at] : []));
  return starts.map((start, at) => ({
    name: / AS (\S+)$/.exec(steps[start]![1])?.[1] ?? '',
    steps: steps.slice(start + 1, starts[at + 1]),
  }));
}

const isRoot = process.getuid?.() === 0;
const folder = await mkdtemp(join(tmpdir(), 'plinth-image-'));
const built = join(folder, 'build-stage');
const root = join(folder, 'root');
try {
  const [build, last] = stagesOf(await readFile('Dockerfile', 'utf8'));
  if (!build || !last) throw new Error('the Dockerfile has two stages');
  await carryOutBuild(build);
  await carryOutLast(last);
  const megabytes = sizeOf(root);
  console.log(`image: ${megabytes} MB and the base image, ${megabytes + baseMegabytes} MB in all`);
  if (megabytes + baseMegabytes > mostMegabytes)
    throw new Error(`the image is larger than ${mostMegabytes} MB`);
  await tryOut(last);
} finally {
  await rm(folder, { recursive: true, force: true });
}

/** `RUN` in a fresh folder: absolute paths of the stage lie in it, and `node` is the one that runs this. */
async function carryOutBuild({ steps }: Stage): Promise<void> {
  let place = built;
  const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env['PATH']}` };
  for (const [instruction, rest] of steps) {
    console.log(`${instruction} ${rest}`);
    if (instruction === 'WORKDIR') {
      place = join(built, rest);
      await mkdir(place, { recursive: true });
    } else if (instruction === 'COPY' && rest === '. .') {
      execFileSync('bash', ['-c', `git archive HEAD | tar -x -C "$0"`, place]);
      const ignored = (await readFile('.dockerignore', 'utf8')).split('\n').filter(Boolean);
      for (const name of ignored)
        await rm(join(place, name.replace('**/', '')), { recursive: true, force: true });
    } else if (instruction === 'RUN') {
      // The machine keeps its packages, and a binary that is not stripped only takes more room.
      if (rest.startsWith('apt-get')) continue;
      const command = rest.replaceAll(/(^| )\/image\b/g, `$1${built}/image`);
      const possible = hasStrip()
        ? command
        : command.replace('strip -o', 'cp -T').replace(/(\S+\/node) ("\$\(.*\)")/, '$2 $1');
      execFileSync('bash', ['-euc', possible], { cwd: place, env, stdio: ['ignore', 'ignore', 'pipe'] });
    } else throw new Error(`the build stage has an instruction that this cannot carry out: ${instruction}`);
  }
}

function hasStrip(): boolean {
  try {
    execFileSync('strip', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

async function carryOutLast({ steps }: Stage): Promise<void> {
  await mkdir(root);
  for (const [instruction, rest] of steps) {
    if (instruction !== 'COPY') continue;
    const [from = '', to = ''] = rest.split(' ').filter((word) => !word.startsWith('--'));
    await mkdir(dirname(join(root, to)), { recursive: true });
    await cp(join(built, from), join(root, to), { recursive: true });
  }
  if (isRoot) await chown(join(root, 'data'), 65_532, 65_532);
  await chmod(root, 0o755);
}

function sizeOf(path: string): number {
  return Number(execFileSync('du', ['-sm', '--apparent-size', path], { encoding: 'utf8' }).split('\t')[0]);
}

async function tryOut({ steps }: Stage): Promise<void> {
  const all = (instruction: string) => steps.filter(([name]) => name === instruction).map(([, rest]) => rest);
  const set = new Map(
    all('ENV').flatMap((rest) => rest.split(' ').map((pair) => pair.split('=', 2) as [string, string])),
  );
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const env = { ...Object.fromEntries(set), PLINTH_LOG: 'warn', PORT: String(port), PLINTH_PUBLIC_URL: url };
  const asRoot = isRoot && (await libraries());
  const start = (words: readonly string[]): ChildProcess => {
    if (asRoot) {
      const chroot = ['--userspec=65532:65532', root, '/usr/bin/env', '-C', '/app', ...words];
      return spawn('chroot', chroot, {
        env: { PATH: process.env['PATH'], ...env },
        stdio: ['ignore', 'inherit', 'inherit'],
      });
    }
    const own = { ...env, PLINTH_DATA_DIR: join(root, 'data'), HOST: '127.0.0.1' };
    const [program = '', ...rest] = words;
    return spawn(join(root, program), rest, {
      cwd: join(root, 'app'),
      env: own,
      stdio: ['ignore', 'inherit', 'inherit'],
    });
  };
  const wordsOf = (rest = '') => JSON.parse(rest.slice(rest.indexOf('['))) as string[];
  const server = start([...wordsOf(all('ENTRYPOINT')[0]), ...wordsOf(all('CMD')[0])]);
  const ended = once(server, 'exit') as Promise<[number | null]>;
  try {
    await ready(url, server);
    const [healthy] = (await once(start(wordsOf(all('HEALTHCHECK')[0]?.split(' CMD ')[1])), 'exit')) as [
      number,
    ];
    if (healthy !== 0) throw new Error('the health check fails');
    const token = (await readFile(join(root, 'data/root-token'), 'utf8')).trim();
    const own = { ...process.env, PLINTH_URL: url, PLINTH_ROOT_TOKEN: token };
    for (const program of ['first-calls', 'first-invoice', 'first-object'])
      execFileSync(process.execPath, [resolve(`examples/${program}.ts`)], {
        cwd: folder,
        env: own,
        stdio: 'ignore',
      });
  } finally {
    server.kill('SIGTERM');
    const late = setTimeout(() => server.kill('SIGKILL'), 30_000);
    const [code] = await ended;
    clearTimeout(late);
    if (code !== 0) throw new Error(`the server ended with ${code}`);
  }
  console.log('started, healthy, examples done, and ended when told to');
}

/** Puts the libraries that the base image holds, from this machine, where a program needs them. */
async function libraries(): Promise<boolean> {
  const addons = execFileSync('find', [root, '-name', '*.node'], { encoding: 'utf8' })
    .split('\n')
    .filter(Boolean);
  const programs = [join(root, 'usr/local/bin/node'), '/usr/bin/env', ...addons];
  const lists = programs.map((program) => execFileSync('ldd', [program], { encoding: 'utf8' }));
  const paths = new Set(
    lists.flatMap((list) => list.match(/\/\S+/g) ?? []).filter((path) => path.includes('.so')),
  );
  for (const path of [...paths, '/usr/bin/env']) await cp(path, join(root, path), { dereference: true });
  return true;
}
