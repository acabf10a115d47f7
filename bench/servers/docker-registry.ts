/** The registry of Docker, with its blobs in a folder. Argument: the folder. */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../drills/server.ts';
import { announce } from './announce.ts';
import { answers } from './answers.ts';

const [folder = ''] = process.argv.slice(2);
const port = await freePort();
const config = join(folder, 'registry.yml');
writeFileSync(
  config,
  JSON.stringify({
    version: 0.1,
    log: { level: 'error', accesslog: { disabled: true } },
    storage: {
      filesystem: { rootdirectory: join(folder, 'registry') },
      maintenance: { uploadpurging: { enabled: false } },
    },
    http: { addr: `127.0.0.1:${port}`, relativeurls: true, secret: 'a-secret-of-the-benchmark' },
  }),
);
const child = spawn('docker-registry', ['serve', config], {
  stdio: ['ignore', 'ignore', 'inherit'],
  env: { ...process.env, OTEL_TRACES_EXPORTER: 'none' },
});
child.on('error', () => process.exit(1)).on('exit', (code) => process.exit(code ?? 1));
process.on('exit', () => child.removeAllListeners('exit').kill('SIGKILL'));
await answers(port, '/v2/');
announce(port);
