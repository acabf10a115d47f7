import { expect, it, onTestFinished, vi } from 'vitest';
import { oddities, oddServer } from '../../testing/odd-server.ts';
import { exportSpans } from './export.ts';
import { measured } from './spans.ts';

const http =
  (head: string, body = '') =>
  (socket: import('node:net').Socket) =>
    void socket.on('data', () =>
      socket.end(`HTTP/1.1 ${head}\r\nContent-Length: ${body.length}\r\n\r\n${body}`),
    );

it.each([
  ...oddities,
  ['answers with a page that says that all is well', http('200 OK', '<html></html>')],
  ['answers with JSON that is no object', http('200 OK\r\nContent-Type: application/json', 'null')],
  ['wants to be asked again at an odd time', http('503 Busy\r\nRetry-After: -1e99')],
  ['redirects', http('302 Found\r\nLocation: ::')],
] as const)('a collector that %s loses spans, and nothing else', async (_, oddity) => {
  const port = await oddServer(oddity);
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', `http://127.0.0.1:${port}`);
  vi.stubEnv('OTEL_EXPORTER_OTLP_TIMEOUT', '200');
  onTestFinished(() => void vi.unstubAllEnvs());
  const end = await exportSpans();
  expect(await measured('work', 'outbound', {}, async () => 'done')).toBe('done');
  await end();
});
