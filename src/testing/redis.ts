import { connect } from 'node:net';

const [host, port] = ['127.0.0.1', 6379];

/** The URL of Redis on development machines. */
export const redisUrl = `redis://${host}:${port}`;

/** Whether Redis answers at that URL. */
export function redisAnswers(): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, host, () => socket.write('PING\r\n'));
    socket.setTimeout(1_000, () => socket.destroy());
    socket.once('data', (answer) => {
      resolve(answer.toString().startsWith('+PONG'));
      socket.destroy();
    });
    socket.once('error', () => socket.destroy());
    socket.once('close', () => resolve(false));
  });
}
