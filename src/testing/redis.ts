import { connect } from 'node:net';

const [host, port] = ['127.0.0.1', 6379];

/** Where development machines have a Redis. */
export const redisUrl = `redis://${host}:${port}`;

/** Whether a Redis answers there. */
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
