import type { Reading } from '../readings.ts';

export const platform: readonly Reading[] = [
  {
    service: 'gateway',
    document: 'platform',
    letter: 'A',
    base: '/gateway',
    objects: ['headers', 'retry', 'rateLimit'],
    members: { targets: 'target' },
    answers: [[/ \/api\/routes/, 'route']],
    requests: {
      'PUT /api/routes/:id':
        '`path`, `targets` (array of `url`, `weight`), `stripPrefix`, `protocol`, `priority`, `enabled`, `methods`, `headers`, `retry`, `rateLimit`',
    },
    responses: { 'GET /api/upstreams': '200 Target, `routeId`, `routePath`' },
  },
  {
    service: 'control',
    document: 'platform',
    letter: 'B',
    base: '/v1',
    objects: ['resources'],
    lists: /^GET .*\/(instances|deployments|releases|domains|secrets|tenants|audit)$/,
  },
  {
    service: 'retrieval',
    document: 'platform',
    letter: 'C',
    base: '/v1',
    members: { chunk: 'chunk' },
    readOnly: {
      collection: ['id', 'tenant_id', 'app_id', 'document_count', 'chunk_count', 'created_at', 'updated_at'],
    },
    answers: [
      [/^(POST|GET) \/collections(\/:collectionId)?$/, 'collection'],
      [/^GET .*\/documents/, 'document'],
    ],
    requests: {
      'POST /collections/:collectionId/documents/batch':
        '`documents` (array of `title`, `content`, `source`, `source_type`, `metadata`)',
    },
  },
  {
    service: 'agents',
    document: 'platform',
    letter: 'D',
    base: '/agentsvc',
    readOnly: { agent: ['id'], skill: ['id'], trait: ['id'], behavior: ['id'], persona: ['id'] },
    answers: [
      [/^(POST|GET) \/agents(\/:name)?$/, 'agent'],
      [/^(POST|GET) \/skills/, 'skill'],
      [/^(POST|GET) \/traits/, 'trait'],
      [/^(POST|GET) \/behaviors/, 'behavior'],
      [/^(POST|GET) \/personas/, 'persona'],
      [/^GET .*\/runs/, 'run'],
    ],
    requests: {
      'PUT /agents/:name': 'agent input',
      'POST /skills': 'skill input',
      'PUT /skills/:name': 'skill input',
      'POST /traits': 'trait input',
      'GET /traits': 'query `limit`, `offset`, `category`',
      'PUT /traits/:name': 'trait input',
      'POST /behaviors': 'behavior input',
      'PUT /behaviors/:name': 'behavior input',
      'POST /personas': 'persona input',
      'PUT /personas/:name': 'persona input',
    },
  },
  { service: 'storage', document: 'platform', letter: 'E', base: '/store/v1' },
  {
    service: 'sync',
    document: 'platform',
    letter: 'F',
    base: '',
    members: { Changes: 'change record', States: 'presence state' },
  },
];
