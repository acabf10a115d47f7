import { createPlinth, type PlinthError } from '@plinth/sdk';

const baseUrl = process.env.PLINTH_URL ?? 'http://127.0.0.1:4000';
// Root may act in any tenant, and a tenant exists as soon as a request names it. Each run uses its own.
const headers = { 'X-Tenant-ID': `first-calls-${Date.now()}` };
const plinth = createPlinth({ baseUrl, token: process.env.PLINTH_ROOT_TOKEN ?? '', headers });

// Anna becomes an editor, and editors may write documents.
const role = await plinth.authz.roles.create({ body: { name: 'Editor' } });
const permission = await plinth.authz.permissions.create({ body: { resource: 'document', action: 'write' } });
await plinth.authz.roles.attachPermission({ roleId: role.id, body: { permission_id: permission.id } });
await plinth.authz.assignments.create({
  body: { role_id: role.id, subject_kind: 'user', subject_id: 'anna' },
});

const decision = await plinth.authz.decisions.check({
  body: {
    subject_kind: 'user',
    subject_id: 'anna',
    action: 'write',
    resource_type: 'document',
    resource_id: 'readme',
  },
});
console.log(decision.allowed, '-', decision.reason);

// A key that may only read lists the roles, page after page.
const { raw_key } = await plinth.keys.keys.create({
  body: { name: 'Reporting job', scopes: ['authz:read'] },
});
const reader = createPlinth({ baseUrl, apiKey: raw_key });
for await (const { slug } of reader.authz.roles.list({ limit: 100 })) console.log('role', slug);

// A call that the key does not permit fails with an error that says so.
await reader.authz.roles
  .delete({ roleId: role.id })
  .catch((error: PlinthError) => console.log(error.status, error.message));
