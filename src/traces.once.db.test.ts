/** The spans that a server sends to a collector. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { childDatabase } from './testing/database.ts';
import { childServer } from './testing/server.ts';

vi.setConfig({ testTimeout: 120_000 });

interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly attributes: readonly { key: string; value: { stringValue?: string; intValue?: number } }[];
}

const attributesOf = ({ attributes }: Span) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue]));

async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close().closeAllConnections());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A collector that keeps what it is sent. */
async function collector() {
  const bodies: string[] = [];
  const url = await listening(
    createServer((request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (piece: string) => (body += piece));
      request.on('end', () => {
        bodies.push(body);
        response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
      });
    }),
  );
  const spans = () =>
    bodies.flatMap((body) =>
      (JSON.parse(body) as { resourceSpans: { scopeSpans: { spans: Span[] }[] }[] }).resourceSpans.flatMap(
        ({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans),
      ),
    );
  return { url, bodies, spans };
}

async function tracedServer(services: readonly string[], endpoint: string) {
  const db = await childDatabase(services);
  onTestFinished(() => db.remove());
  const env = {
    ...db.env,
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
    OTEL_BSP_SCHEDULE_DELAY: '50',
    OTEL_SERVICE_NAME: 'tested',
    PLINTH_LOG: 'info',
  };
  const server = await childServer({ services, env });
  onTestFinished(async () => void (await server.kill('SIGKILL')));
  return server;
}

test('a request, its statements and the calls that follow from it are spans, without secrets', async () => {
  const collected = await collector();
  const receiver = await listening(createServer((_request, response) => response.writeHead(204).end()));
  const server = await tracedServer(['keys', 'webhooks', 'jobs'], collected.url);
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
  const headers = { traceparent: `00-${traceId}-00f067aa0ba902b7-01` };

  const created = await server.request('POST', '/keys/v1/keys', { headers, body: { name: 'Reports' } });
  expect(created.status).toBe(201);
  const { raw_key } = created.body as { raw_key: string };
  const endpoint = { url: `${receiver}/hook?secret=in-the-address`, event_types: ['*'] };
  const made = await server.request('POST', '/webhooks/endpoints', { body: endpoint });
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  const eventType = { name: 'invoice.paid', description: 'An invoice was paid.' };
  const registered = await server.request('POST', '/webhooks/event-types', { body: eventType });
  expect(registered.status, JSON.stringify(registered.body)).toBe(201);
  const event = { type: 'invoice.paid', data: { amount: 1 } };
  expect((await server.request('POST', '/webhooks/events', { body: event })).status).toBe(201);

  const requestSpan = () =>
    collected.spans().find((span) => attributesOf(span)['plinth.operation'] === 'keys.Keys.create');
  const call = () => collected.spans().find((span) => attributesOf(span)['server.address'] === '127.0.0.1');
  await expect.poll(requestSpan).toBeDefined();
  await expect.poll(call).toBeDefined();

  const request = requestSpan()!;
  expect(request).toMatchObject({
    name: 'POST /v1/keys',
    traceId,
    parentSpanId: '00f067aa0ba902b7',
    kind: 2,
  });
  expect(attributesOf(request)).toMatchObject({
    'http.request.method': 'POST',
    'http.route': '/v1/keys',
    'http.response.status_code': 201,
    'plinth.tenant': 'default',
  });
  const statements = collected.spans().filter(({ parentSpanId }) => parentSpanId === request.spanId);
  const insert = statements.find(({ name }) => name.startsWith('insert keys.'));
  expect(attributesOf(insert!)['db.query.text']).toMatch(/^insert into keys\..*\$1/);
  expect(attributesOf(call()!)).toMatchObject({
    'http.request.method': 'POST',
    'server.port': Number(new URL(receiver).port),
    'http.response.status_code': 204,
  });

  expect(await server.kill()).toBe(0);
  expect(server.stdout()).toContain(`"traceId":"${traceId}"`);
  const sent = collected.bodies.join('');
  expect(sent).toContain('"tested"');
  for (const secret of [raw_key, server.rootToken, 'in-the-address']) expect(sent).not.toContain(secret);
});

test('a collector that cannot be reached stops neither answers nor the end', async () => {
  const server = await tracedServer(['keys'], 'http://127.0.0.1:9');
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => server.request('POST', '/v1/keys', { body: { name: 'Reports' } })),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
  // A request that names no trace begins one, by which the log and the collector are compared.
  expect(await server.kill()).toBe(0);
  expect(server.stdout()).toMatch(/"traceId":"[0-9a-f]{32}".*"operation":"keys\.Keys\.create"/);
});
