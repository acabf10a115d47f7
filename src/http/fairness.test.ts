import { connect } from 'node:net';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { demoServer, token } from './fixture/server.ts';
import { usualTurns } from './turns.ts';

const thing = '/v1/things/thing_01m7w4n5e0f7drekxj50y51wjg';
const { runningEach, waitingEach } = usualTurns;
const busy = () => ({ path: thing, headers: [`Authorization: Bearer ${token}`, 'X-Tenant-ID: busy'] });
let server: Awaited<ReturnType<typeof demoServer>>;
beforeAll(async () => {
  server = await demoServer({ trustedProxy: ['127.0.0.1'] });
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
    const lines = Array.from({ length: Math.ceil(count / 16) }, () => pipelined(16, busy));
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
  const lines = Array.from({ length: runningEach / 16 + 2 }, () => pipelined(16, busy));
  await expect.poll(() => server.state.waiting).toBe(runningEach);
  for (const path of ['/healthz', '/readyz']) expect((await fetch(server.origin + path)).status).toBe(200);
  server.state.gate = undefined;
  open();
  await Promise.all(lines.map(({ answers }) => answers));
});

const madeUpKey = (at: number) => `X-API-Key: sk_live_${String(at).padStart(55, '0')}`;

test.each([
  ['without a credential', '/v1/hello', () => [], 200],
  ['with made-up credentials, all of them different', thing, (at: number) => [madeUpKey(at)], 401],
])(
  'callers %s share what one caller has, by their network',
  { timeout: 30_000 },
  async (_, path, credential, status) => {
    expect((await server.send('GET', thing)).status).toBe(200);
    let open = () => {};
    server.state.gate = new Promise((resolve) => (open = resolve));
    const openGate = () => {
      server.state.gate = undefined;
      open();
    };
    onTestFinished(openGate);
    server.state.waiting = 0;
    server.asked.length = 0;
    const atGate = () => server.state.waiting + server.asked.length;
    const from = (network: number, at: number) => `2001:db8:0:${network}::${at.toString(16)}`;
    const lines = Array.from({ length: runningEach / 16 + 2 }, (_, line) =>
      pipelined(16, (at) => {
        const nth = line * 16 + at;
        return { path, headers: [`X-Forwarded-For: ${from(1, nth)}`, ...credential(nth)] };
      }),
    );
    await expect.poll(() => lines.reduce((sum, line) => sum + line.sent, 0)).toBe(lines.length * 16);
    await expect.poll(atGate).toBe(runningEach);

    // A client with a valid credential does not wait behind them, even in the same network, and neither does another network.
    const valid = server.send('GET', thing, { headers: { 'X-Forwarded-For': from(1, 0xffff) } });
    await expect.poll(atGate).toBe(runningEach + 1);
    const elsewhere = server.send('GET', '/v1/hello', {
      token: null,
      headers: { 'X-Forwarded-For': from(2, 1) },
    });
    await expect.poll(atGate).toBe(runningEach + 2);
    expect((await fetch(`${server.origin}/readyz`)).status).toBe(200);
    expect(atGate()).toBe(runningEach + 2);

    openGate();
    expect([(await valid).status, (await elsewhere).status]).toEqual([200, 200]);
    const statuses = (await Promise.all(lines.map(({ answers }) => answers))).flat();
    // Clients that have waited for too long are told so.
    expect(statuses.filter((one) => one === status).length).toBeGreaterThanOrEqual(runningEach);
    expect(statuses.filter((one) => one !== status && one !== 503)).toEqual([]);
  },
);

interface PipelinedRequest {
  readonly path: string;
  readonly headers: readonly string[];
}

/** Sends requests on a separate connection; `answers` resolves with their statuses. */
function pipelined(
  count: number,
  request: (at: number) => PipelinedRequest,
): { sent: number; answers: Promise<number[]> } {
  const requests = Array.from({ length: count }, (_, at) => {
    const { path, headers } = request(at);
    return [`GET /demo${path} HTTP/1.1`, 'Host: x', ...headers, '', ''].join('\r\n');
  }).join('');
  const line = { sent: 0, answers: Promise.resolve<number[]>([]) };
  line.answers = new Promise((resolve) => {
    let text = '';
    const socket = connect(server.port, '127.0.0.1', () => socket.write(requests, () => (line.sent = count)));
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
