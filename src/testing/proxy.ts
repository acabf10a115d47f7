import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface Proxy {
  /** The URL of the target, by way of the proxy. */
  readonly url: string;
  /** Cuts all connections and refuses new ones, as a server that was stopped. */
  cut(): Promise<void>;
  /** Passes nothing on any more but keeps every connection open, as a server that hangs. */
  freeze(): void;
  /** Works again. */
  restore(): Promise<void>;
  close(): Promise<void>;
}

/** Stands between a client and the database server, to take the server away from it. */
export async function proxyTo(url: string): Promise<Proxy> {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  let frozen = false;

  const server = createServer((client) => {
    const upstream = connect(Number(target.port || 5432), target.hostname);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on('data', (data) => (frozen ? undefined : to.write(data)));
      from.on('error', () => {});
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const through = new URL(url);
  through.host = `127.0.0.1:${port}`;

  const drop = () => sockets.forEach((socket) => socket.destroy());
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      drop();
    });
  return {
    url: through.href,
    cut: close,
    freeze: () => void (frozen = true),
    async restore() {
      frozen = false;
      drop();
      if (!server.listening) await listen(port);
    },
    close,
  };
}
