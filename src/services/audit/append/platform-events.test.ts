import { describe, expect, it } from 'vitest';
import type { RelayedEvent } from '../../../db/relay/relay.store.ts';
import { inputOf } from './platform-events.ts';

const event = (changes: Partial<RelayedEvent> = {}): RelayedEvent => ({
  id: 'evt_01kfd8cst0f4ebfc0tywvtbr3d',
  source: '/billing',
  type: 'billing.invoice.paid',
  subject: 'inv_1',
  tenant: 'acme',
  app: 'default',
  actor: 'usr_7',
  time: '2026-01-20T08:30:00.000Z',
  data: { amount: 1 },
  requestId: 'req-1',
  ...changes,
});

describe('an event of the platform', () => {
  it('is recorded in the words of the audit log', () => {
    expect(inputOf(event())).toEqual({
      ...{ timestamp: '2026-01-20T08:30:00.000Z', action: 'invoice.paid', resource: 'invoice' },
      ...{ category: 'billing', user_id: 'usr_7', actor_type: 'user', resource_id: 'inv_1' },
      ...{ subject_id: 'tenant:acme', ip: null, user_agent: null, reason: null },
      ...{ outcome: 'success', severity: 'info' },
      metadata: {
        event_id: 'evt_01kfd8cst0f4ebfc0tywvtbr3d',
        source: '/billing',
        request_id: 'req-1',
        data: { amount: 1 },
      },
      idempotency_key: '/billing#evt_01kfd8cst0f4ebfc0tywvtbr3d',
    });
  });

  it.each([
    ['/auth', 'auth.signin', 'signin', 'signin', 'success', 'info', 'auth'],
    ['/auth', 'auth.signin_failed', 'signin_failed', 'signin_failed', 'failure', 'warning', 'auth'],
    ['/auth', 'user.created', 'user.created', 'user', 'success', 'info', 'auth'],
    ['/authz', 'authz.check.denied', 'check.denied', 'check', 'denied', 'warning', 'access'],
    ['/keys', 'keys.key.created', 'key.created', 'key', 'success', 'info', 'access'],
    ['/safety', 'safety.scan.blocked', 'scan.blocked', 'scan', 'denied', 'warning', 'ai'],
    ['/agents', 'agents.run.failed', 'run.failed', 'run', 'failure', 'warning', 'ai'],
    ['/storage', 'storage.object.put', 'object.put', 'object', 'success', 'info', 'data'],
    ['/retrieval', 'retrieval.index.built', 'index.built', 'index', 'success', 'info', 'data'],
    ['/sync', 'sync.doc.changed', 'doc.changed', 'doc', 'success', 'info', 'data'],
    ['/gateway', 'gateway.route.created', 'route.created', 'route', 'success', 'info', 'config'],
    ['/control', 'control.deploy.done', 'deploy.done', 'deploy', 'success', 'info', 'deployment'],
    ['/webhooks', 'webhooks.endpoint.disabled', 'endpoint.disabled', 'endpoint', 'success', 'info', 'system'],
    ['/jobs', 'jobs.job.failed', 'job.failed', 'job', 'failure', 'warning', 'system'],
    ['/unknown', 'unknown.thing.done', 'thing.done', 'thing', 'success', 'info', 'system'],
  ] as const)('%s %s', (source, type, action, resource, outcome, severity, category) =>
    expect(inputOf(event({ source, type }))).toMatchObject({ action, resource, outcome, severity, category }),
  );

  it.each([
    ['user_01m87dq38pfzsvhbbxt0pt9zhw', 'user', 'user_01m87dq38pfzsvhbbxt0pt9zhw'],
    ['usr_7', 'user', 'usr_7'],
    ['key_1', 'key', null],
    ['client_1', 'service', null],
    ['system', 'system', null],
    ['root', 'system', null],
    ['anonymous', 'system', null],
    ['jobs', 'service', null],
  ] as const)('by %s has the actor type %s', (actor, actor_type, user_id) => {
    const input = inputOf(event({ actor }));
    expect(input).toMatchObject({ actor_type, user_id });
    expect(input.metadata).toEqual(
      expect.objectContaining(user_id === null ? { actor } : { data: { amount: 1 } }),
    );
  });

  it.each([
    [{ user_id: 'usr_1', identifier_hash: 'h' }, 'usr_1'],
    [{ identifier_hash: 'h' }, 'h'],
    [{ user_id: 5 }, 'tenant:acme'],
    [{ user_id: '' }, 'tenant:acme'],
    [{ user_id: 'x'.repeat(256) }, 'tenant:acme'],
  ])('with the data %j concerns %s', (data, subject_id) =>
    expect(inputOf(event({ data }))).toMatchObject({ subject_id }),
  );

  it('keeps of long names and large or deep data the digest', () => {
    expect(inputOf(event({ subject: 'x'.repeat(513) })).resource_id).toMatch(/^[0-9a-f]{64}$/);
    expect(inputOf(event({ subject: 'x'.repeat(512) })).resource_id).toHaveLength(512);
    expect(inputOf(event({ subject: '' })).resource_id).toBeNull();
    const deep = { a: { b: { c: { d: { e: { f: { g: {} } } } } } } };
    for (const data of [{ text: 'x'.repeat(24 * 1_024) }, deep]) {
      const { metadata } = inputOf(event({ data }));
      expect(metadata).toMatchObject({ data_sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string });
      expect(metadata).not.toHaveProperty('data');
    }
    expect(inputOf(event({ data: deep.a })).metadata).toMatchObject({ data: deep.a });
  });
});
