import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface Proxy {
  /** The URL of the target, through the proxy. */
  readonly url: string;
  /** Cuts all connections and refuses new ones, like a stopped server. */
  cut(): Promise<void>;
  /** Forwards nothing any more but keeps every connection open, like a server that hangs. */
  freeze(): void;
  /** Forwards nothing any more on one of the connections, as if a firewall had dropped its state. */
  freezeOne(): void;
  /** Drops all connections and accepts and forwards new ones again. */
  restore(): Promise<void>;
  close(): Promise<void>;
}

/** Starts a proxy between a client and the database server that can make the server unreachable. */
export async function proxyTo(url: string): Promise<Proxy> {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  const clients = new Set<Socket>();
  const forgotten = new Set<Socket>();
  let frozen = false;

  const server = createServer((client) => {
    clients.add(client);
    const upstream = connect(Number(target.port || 5432), target.hostname);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on('data', (data) => (frozen || forgotten.has(client) ? undefined : to.write(data)));
      from.on('error', () => {});
      from.on('close', () => {
        sockets.delete(from);
        forgotten.delete(client);
        clients.delete(client);
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
    freezeOne() {
      const [client] = clients;
      if (client !== undefined) forgotten.add(client);
    },
    async restore() {
      frozen = false;
      drop();
      if (!server.listening) await listen(port);
    },
    close,
  };
}
