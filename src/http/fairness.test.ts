import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { demoServer, token } from './fixture/server.ts';
import { usualTurns } from './turns.ts';

const thing = '/v1/things/thing_01m7w4n5e0f7drekxj50y51wjg';
const { runningEach, waitingEach } = usualTurns;
let server: Awaited<ReturnType<typeof demoServer>>;
beforeAll(async () => {
  server = await demoServer();
});
afterAll(() => server.close());

test(
  'a caller who sends much at once waits for himself, and who sends too much is told so',
  { timeout: 30_000 },
  async () => {
    let open = () => {};
    server.state.gate = new Promise((resolve) => (open = resolve));
    const count = runningEach + waitingEach + 8;
    // Sixteen requests on each connection, as many as one connection may run at once.
    const lines = Array.from({ length: Math.ceil(count / 16) }, () => pipelined(16, 'busy'));
    await expect.poll(() => server.state.waiting).toBe(runningEach);
    await expect.poll(() => lines.reduce((sum, line) => sum + line.sent, 0)).toBe(lines.length * 16);

    // A request for another tenant, by the same root, does not wait behind them: it begins at once.
    const other = server.send('GET', thing, { headers: { 'X-Tenant-ID': 'modest' } });
    await expect.poll(() => server.state.waiting).toBe(runningEach + 1);
    server.state.gate = undefined;
    open();
    expect((await other).status).toBe(200);

    const statuses = (await Promise.all(lines.map(({ answers }) => answers))).flat();
    const [served, refused] = [200, 503].map((status) => statuses.filter((one) => one === status).length);
    expect(served! + refused!).toBe(statuses.length);
    expect(refused).toBeGreaterThanOrEqual(statuses.length - runningEach - waitingEach);
    expect(served).toBeGreaterThanOrEqual(runningEach);
  },
);

test('health and readiness wait for nobody', { timeout: 30_000 }, async () => {
  let open = () => {};
  server.state.gate = new Promise((resolve) => (open = resolve));
  server.state.waiting = 0;
  const lines = Array.from({ length: runningEach / 16 + 2 }, () => pipelined(16, 'busy'));
  await expect.poll(() => server.state.waiting).toBe(runningEach);
  for (const path of ['/healthz', '/readyz']) expect((await fetch(server.origin + path)).status).toBe(200);
  server.state.gate = undefined;
  open();
  await Promise.all(lines.map(({ answers }) => answers));
});

/** Sends requests of one tenant on a separate connection; `answers` resolves with their statuses. */
function pipelined(count: number, tenant: string): { sent: number; answers: Promise<number[]> } {
  const head = [
    `GET /demo${thing} HTTP/1.1`,
    'Host: x',
    `Authorization: Bearer ${token}`,
    `X-Tenant-ID: ${tenant}`,
  ];
  const line = { sent: 0, answers: Promise.resolve<number[]>([]) };
  line.answers = new Promise((resolve) => {
    let text = '';
    const socket = connect(server.port, '127.0.0.1', () =>
      socket.write(`${head.join('\r\n')}\r\n\r\n`.repeat(count), () => (line.sent = count)),
    );
    socket.setEncoding('latin1').on('data', (part: string) => {
      text += part;
      const statuses = [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));
      if (statuses.length < count) return;
      socket.destroy();
      resolve(statuses);
    });
  });
  return line;
}
