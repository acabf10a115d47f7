import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const program = '/usr/sbin/apache2';
const modules = '/usr/lib/apache2/modules';

/** Whether Debian's Apache is installed with all of these modules. */
export const findApache = (names: readonly string[]): boolean =>
  [program, ...names.map((name) => `${modules}/mod_${name}.so`)].every((path) => existsSync(path));

export interface Apache {
  /** The server's URL, without a trailing slash. */
  readonly url: string;
  /** The content of the error log so far. */
  errors(): Promise<string>;
  close(): Promise<void>;
}

/** Starts Apache on the port with these modules and directives, and waits until it listens. Rejects with its errors if it ends first. */
export async function startApache(
  port: number,
  names: readonly string[],
  directives: readonly string[],
): Promise<Apache> {
  const folder = await mkdtemp(join(tmpdir(), 'plinth-apache-'));
  // When root starts Apache, it serves as another user, who needs access to the folder.
  await chmod(folder, 0o755);
  const log = join(folder, 'error.log');
  const configuration = [
    ...names.map((name) => `LoadModule ${name}_module ${modules}/mod_${name}.so`),
    `ServerRoot ${folder}`,
    `DefaultRuntimeDir ${folder}`,
    `PidFile ${folder}/pid`,
    `ErrorLog ${log}`,
    'User www-data',
    'Group www-data',
    'ServerName 127.0.0.1',
    `Listen 127.0.0.1:${port}`,
    ...directives,
  ];
  await writeFile(join(folder, 'apache.conf'), `${configuration.join('\n')}\n`);
  const child = spawn(program, ['-X', '-f', join(folder, 'apache.conf')], { stdio: 'ignore' });
  process.once('exit', () => child.kill('SIGKILL'));
  const ended = once(child, 'exit');
  const url = `http://127.0.0.1:${port}`;
  const errors = () => readFile(log, 'utf8').catch(() => '');
  const answers = () =>
    fetch(url).then(
      () => true,
      () => false,
    );
  while (!(await answers())) {
    if (child.exitCode !== null) throw new Error(`Apache ended before it listened: ${await errors()}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  return {
    url,
    errors,
    async close() {
      child.kill('SIGTERM');
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
