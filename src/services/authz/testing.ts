import { afterAll, beforeAll, expect } from 'vitest';
import type { CheckResult } from '../../../generated/authz/types.ts';
import { testServer, type TestRequest, type TestResponse, type TestServer } from '../../testing/server.ts';

/** A record as a test reads it. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests look into bodies of every shape
export type Body = any;

/** Members of records that tests read by name. Tests compare the other members. */
export interface Stored {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
}

/** The service over HTTP for one test file, in strict contract mode. Each test uses its own tenant. */
export interface AuthzServer {
  readonly server: TestServer;
  /** Returns a client of a tenant without any data. */
  tenant(options?: TestRequest): Client;
}

export interface Client {
  readonly name: string;
  readonly request: (method: string, path: string, body?: unknown) => Promise<TestResponse>;
  readonly get: (path: string) => Promise<TestResponse>;
  readonly post: (path: string, body: unknown) => Promise<TestResponse>;
  readonly put: (path: string, body: unknown) => Promise<TestResponse>;
  readonly delete: (path: string) => Promise<TestResponse>;
  /** Posts and returns the record. Fails the test unless it was created. */
  readonly create: (path: string, body: unknown) => Promise<Stored>;
  /** Returns whether the subject may perform the action: `check('user:u1', 'read', 'document:1')`. */
  readonly check: (subject: string, action: string, resource: string, more?: object) => Promise<CheckResult>;
}

/** Starts the server before the tests of a file and closes it after them. */
export function authzServer(env: Record<string, string> = {}): AuthzServer {
  const started: { server?: TestServer } = {};
  beforeAll(async () => {
    started.server = await testServer({ services: ['authz'], env, log: failures });
  });
  afterAll(() => started.server?.close());
  const server = () => started.server!;
  return {
    get server() {
      return server();
    },
    tenant: (options) => clientOf((...call) => server().request(...call), options),
  };
}

/** Prints unexpected failures, so that their cause is visible. */
const failures = {
  write: (line: string) => void (line.includes('"level":50') && process.stderr.write(line)),
};

let tenants = 0;

/** Returns a client of one tenant. `base` is the service's path. */
export function clientOf(send: TestServer['request'], options: TestRequest = {}, base = '/authz'): Client {
  const name = options.tenant ?? `t${process.pid}-${(tenants += 1)}`;
  const request: Client['request'] = (method, path, body) =>
    send(method, `${base}/v1${path}`, { ...options, tenant: name, ...(body === undefined ? {} : { body }) });
  return {
    name,
    request,
    get: (path) => request('GET', path),
    post: (path, body) => request('POST', path, body),
    put: (path, body) => request('PUT', path, body),
    delete: (path) => request('DELETE', path),
    async create(path, body) {
      const response = await request('POST', path, body);
      expect(response.status, response.text).toBe(201);
      return response.body as Stored;
    },
    async check(subject, action, resource, more = {}) {
      const response = await request('POST', '/authz/check', {
        ...question(subject, action, resource),
        ...more,
      });
      expect(response.status, response.text).toBe(200);
      return response.body as CheckResult;
    },
  };
}

/** Returns one member of each record of a list. */
export const pluck = (records: Body, member: string): unknown[] =>
  (records as Record<string, unknown>[]).map((record) => record[member]);

/** Builds the members of a check from its three words. A resource without an id asks about the type. */
export function question(subject: string, action: string, resource: string) {
  const [subject_kind, subject_id] = halves(subject);
  const [resource_type, resource_id] = halves(resource);
  return { subject_kind, subject_id, action, resource_type, resource_id };
}

/** Parses a tuple such as `document:1#viewer@group:eng#member`. */
export function tuple(text: string) {
  const [object = '', subject = ''] = text.split('@');
  const [what = '', relation] = object.split('#');
  const [who = '', subject_relation = ''] = subject.split('#');
  const [object_type, object_id] = halves(what);
  const [subject_type, subject_id] = halves(who);
  return { object_type, object_id, relation, subject_type, subject_id, subject_relation };
}

function halves(text: string): [string, string] {
  const colon = text.indexOf(':');
  return colon < 0 ? [text, ''] : [text.slice(0, colon), text.slice(colon + 1)];
}
