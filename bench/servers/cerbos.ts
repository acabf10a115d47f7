/** The Cerbos server from the npm package, with the policies in a folder. */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { announce } from './announce.ts';

const folder = process.argv[2] ?? '';
const [port, grpcPort] = [await freePort(), await freePort()];
const config = join(folder, 'config.json');
writeFileSync(
  config,
  JSON.stringify({
    server: { httpListenAddr: `127.0.0.1:${port}`, grpcListenAddr: `127.0.0.1:${grpcPort}` },
    telemetry: { disabled: true },
    storage: { driver: 'disk', disk: { directory: join(folder, 'policies'), watchForChanges: false } },
  }),
);
const binary = createRequire(import.meta.url).resolve(`@cerbos/cerbos-${process.platform}-${process.arch}`);
const child = spawn(binary, ['server', `--config=${config}`, '--log-level=error'], {
  stdio: ['ignore', 'ignore', 'inherit'],
});
child.on('error', () => process.exit(1)).on('exit', (code) => process.exit(code ?? 1));
process.on('exit', () => child.removeAllListeners('exit').kill('SIGKILL'));
while (
  !(await fetch(`http://127.0.0.1:${port}/_cerbos/health`).then(
    ({ ok }) => ok,
    () => false,
  ))
)
  await new Promise((resolve) => setTimeout(resolve, 50));
announce(port);

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
