import type { AddressInfo, Server } from 'node:net';

/** Prints the port of a server, and ends the server together with the process that started it. */
export function announce(port: number, end: () => unknown = () => {}): void {
  console.log(JSON.stringify({ port }));
  process.stdin.on('close', () => void Promise.resolve(end()).finally(() => process.exit())).resume();
}

/** Listens on a free port and announces it. */
export function listen(server: Server): void {
  server.listen(0, '127.0.0.1', () => announce((server.address() as AddressInfo).port));
}
