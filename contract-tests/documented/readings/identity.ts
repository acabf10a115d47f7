import type { Reading } from '../readings.ts';

/** A user with a token set. */
const session = '`user`, `session_token`, `refresh_token`, `expires_at`';

export const identity: readonly Reading[] = [
  {
    service: 'auth',
    document: 'identity',
    letter: 'A',
    base: '/v1/auth',
    members: { user: 'user' },
    synonyms: { enrollment: 'mfa enrollment', 'mfa challenge object': 'mfa challenge' },
    requests: {
      'PATCH /roles/:roleId': '`name`, `description`, `parent_id`',
      'POST /oauth2/token':
        '`grant_type`, `code`, `redirect_uri`, `client_id`, `code_verifier`, `client_secret`, `scope`, `refresh_token`',
    },
    responses: {
      'POST /signin': `200 ${session}, \`mfa_required\`, \`challenge_token\`, \`methods\``,
      'POST /mfa/challenge': `200 ${session}`,
      'POST /phone/verify': `200 ${session}`,
      'GET /me/export': '200 `user`, `sessions`, `devices`, `organizations`',
      'POST /admin/impersonate': '200 `session_token`, `refresh_token`, `expires_at`, `impersonated_by`',
    },
  },
  {
    service: 'authz',
    document: 'identity',
    letter: 'B',
    base: '/v1',
    requests: { 'POST /authz/enforce': 'Check request' },
    responses: { 'POST /authz/enforce': '200 Check result; 403' },
  },
  {
    service: 'keys',
    document: 'identity',
    letter: 'C',
    base: '/v1',
    objects: ['key'],
    members: { key: 'key' },
  },
  {
    service: 'safety',
    document: 'identity',
    letter: 'D',
    base: '/v1',
    synonyms: { 'statistics object': 'scan statistics' },
    requests: { 'POST /scan/output': '`text` (req), `context`, `metadata`' },
  },
];
