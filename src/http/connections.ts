import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Connections that are kept free for new clients when the server is near its limit. */
const spare = 8;

/**
 * Accepts at most `most` connections, so that the process has descriptors left for its files. When nearly all are taken, the connection
 * that has been idle longest is closed for each new one: silent sockets keep no client out.
 */
export function boundConnections(server: Server, most: number): void {
  if (!Number.isFinite(most)) return;
  server.maxConnections = most;
  const all = new Set<Socket>();
  /** Connections without a request, longest idle first. */
  const idle = new Set<Socket>();
  server.on('connection', (socket) => {
    all.add(socket);
    socket.once('close', () => {
      all.delete(socket);
      idle.delete(socket);
    });
    if (all.size > most - spare) makeRoom(idle);
    idle.add(socket);
  });
  const begin = ({ socket }: IncomingMessage, response: ServerResponse) => {
    idle.delete(socket);
    response.once('close', () => {
      if (all.has(socket)) idle.add(socket);
    });
  };
  server.on('request', begin).on('checkContinue', begin);
  // A connection that has left HTTP is never idle.
  server.on('upgrade', ({ socket }: IncomingMessage) => void idle.delete(socket));
}

function makeRoom(idle: Set<Socket>): void {
  const [longest] = idle;
  longest?.destroy();
}
