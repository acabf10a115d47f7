import type {
  Assignment,
  CheckResult,
  Permission,
  Policy,
  Relation,
  ResourceType,
  Role,
} from '../../../generated/authz/types.ts';
import type { TestRequest, TestResponse, TestServer } from '../../testing/server.ts';

/** A record as a test reads it. */
export type Body = TestResponse['body'];

export type Tools = ReturnType<typeof tools>;

let tenants = 0;

/**
 * Helpers for the tests of this service. Each expects success; `refusal` is for requests that are refused. They all act in one
 * tenant: because a decision depends on all rules and facts of its tenant, a test that names none gets its own, without any data.
 */
export const tools = (server: Pick<TestServer, 'request'>, tenant = `t${process.pid}-${(tenants += 1)}`) => {
  /** Returns the whole response, whatever its status. */
  const request = (method: string, path: string, options: TestRequest = {}): Promise<TestResponse> =>
    server.request(method, `/authz/v1${path}`, { tenant, ...options });
  const send = async (method: string, path: string, options: TestRequest = {}): Promise<Body> => {
    const answer = await request(method, path, options);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.body;
  };
  const create = async (path: string, body: object): Promise<Body> => {
    const answer = await request('POST', path, { body });
    if (answer.status !== 201) throw new Error(`POST ${path}: ${answer.status} ${answer.text}`);
    return answer.body;
  };
  return {
    tenant,
    request,
    send,
    /** Returns the status and the message. */
    async refusal(
      method: string,
      path: string,
      options: TestRequest = {},
    ): Promise<[status: number, error: string]> {
      const { status, text } = await request(method, path, options);
      const { error } = (text === '' ? {} : JSON.parse(text)) as { error?: { message: string } };
      return [status, error?.message ?? ''];
    },
    role: (body: object): Promise<Role> => create('/roles', body),
    permission: (body: object): Promise<Permission> => create('/permissions', body),
    /** Attaches the permission to the role. */
    attach: (role_id: string, permission_id: string): Promise<Permission> =>
      create(`/roles/${role_id}/permissions`, { permission_id }),
    assignment: (body: object): Promise<Assignment> => create('/assignments', body),
    policy: (body: object): Promise<Policy> => create('/policies', body),
    resourceType: (body: object): Promise<ResourceType> => create('/resource-types', body),
    /** Stores a tuple: `relation('document:1#viewer@user:a')`. */
    relation: (text: string, more: object = {}): Promise<Relation> =>
      create('/relations', { ...tuple(text), ...more }),
    /** Returns whether the subject may perform the action: `check('user:u1', 'read', 'document:1')`. */
    check: (subject: string, action: string, resource: string, more: object = {}): Promise<CheckResult> =>
      send('POST', '/authz/check', { body: { ...question(subject, action, resource), ...more } }),
  };
};

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
