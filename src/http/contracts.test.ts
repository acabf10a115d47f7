import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { operations, services, type ServiceName } from '../../generated/operations.ts';
import { nobody } from './caller.ts';
import { plainEnvelope } from './failure.ts';
import { createMetrics } from './metrics.ts';
import { createRuntime, type Mounted } from './runtime.ts';
import type { Handler } from './service.ts';

/** Mounts a service with a handler for each of its operations. */
function mounted(name: ServiceName): Mounted {
  const own = operations.filter(({ service }) => service === name);
  const handlers: Record<string, Record<string, Handler>> = {};
  for (const { resource, method } of own) (handlers[resource] ??= {})[method] = () => undefined;
  return {
    name,
    prefix: `/${name}`,
    service: { ...plainEnvelope, handlers },
    operations: own,
    validators: {},
    contract: undefined,
  };
}

const names = Object.keys(services) as ServiceName[];
const runtime = createRuntime(names.map(mounted), {
  identify: () => nobody,
  operator: { tenant: 'default', app: 'default' },
  metrics: createMetrics(),
  log: pino({ level: 'silent' }),
  idempotency: undefined,
  ending: new AbortController().signal,
});

describe.each(names)('of %s, specified or built,', (name) => {
  const own = operations.filter(({ service }) => service === name);
  const paths = own.flatMap((operation) =>
    [operation.path, ...(operation.aliases ?? [])].map((path) => [operation.verb, path] as const),
  );

  test.each(paths)('%s %s can be served', (verb, path) => {
    expect(runtime.methodsOf(`/${name}${path.replaceAll(/\{[^}]+\}/g, 'some')}`)).toContain(verb);
  });
});
