import { spawn } from 'node:child_process';
import { UsageError } from '../sentence.ts';

/**
 * Runs a client program of PostgreSQL against a database. The password goes by the environment, because others on the machine see
 * arguments.
 */
export async function runTool(
  program: 'pg_dump' | 'pg_restore',
  databaseUrl: string,
  words: readonly string[],
): Promise<void> {
  const url = new URL(databaseUrl);
  const password = decodeURIComponent(url.password);
  url.password = '';
  const child = spawn(program, [`--dbname=${url.href}`, '--no-password', ...words], {
    stdio: ['ignore', 'inherit', 'pipe'],
    env: { ...process.env, ...(password === '' ? {} : { PGPASSWORD: password }) },
  });
  let problems = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (problems += text));
  const code = await new Promise<number | null>((done, failed) => {
    child.once('error', (error: NodeJS.ErrnoException) =>
      failed(
        error.code === 'ENOENT'
          ? new UsageError(`${program} is not installed: install the client programs of PostgreSQL.`)
          : error,
      ),
    );
    child.once('close', done);
  });
  if (code !== 0) throw new UsageError(`${program} failed: ${problems.trim() || `exit code ${code}`}`);
}
