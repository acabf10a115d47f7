/**
 * How the parts of the project may know one another; `npm run check` holds it. A picture of it:
 * `npx depcruise src --config --output-type archi | dot -Tsvg > rooms.svg`.
 */

/** The rooms of a folder, from the first to the last. Each imports only those before it. */
const rooms = {
  'services/auth': [
    'text',
    'limits',
    'directory',
    'messages',
    'webhooks',
    'sessions',
    'roles',
    'apps',
    'factors',
    'signin',
    'organizations',
    'users',
    'views',
    'oauth/keys',
    'oauth/access',
    'oauth',
    'hosted',
  ],
  'services/authz': ['engine'],
  'services/keys': ['validation'],
  mock: ['contract', 'answers', 'made-up', 'memory'],
};

/** Rooms of services in which they share the files beside them, but for the one that puts everything together. */
const sharing = {
  'services/audit': [
    'record',
    'keys',
    'streams',
    'append',
    'events',
    'verification',
    'erasures',
    'retention',
    'formats',
    'reports',
  ],
  'services/billing': [
    'money',
    'periods',
    'pricing',
    'plans',
    'tax-rates',
    'customers',
    'usage',
    'subscriptions',
    'coupons',
    'invoices',
    'lifecycle',
    'entitlements',
    'meter',
    'providers',
    'payments',
    'notifications',
    'collection',
    'invoicing',
    'accounts',
  ],
  'services/safety': ['vault', 'rules', 'policies', 'matchers', 'scans'],
  'services/safety/engine': [
    'views',
    'text',
    'recognition',
    'forms/national',
    'secrets',
    'forms',
    'keywords',
    'expressions',
    'rules',
    'attacks',
    'awareness',
    'judgments',
    'policies',
    'decision',
    'reflexes',
    'layers',
    'builtins',
    'corpus',
  ],
  'services/storage': [
    'content',
    'bytes',
    'buckets',
    'links',
    'objects',
    'credentials',
    'uploads',
    'cas',
    'admin',
    's3',
  ],
  'services/storage/s3': ['protocol', 'signing', 'bodies', 'operations'],
  'services/sync': ['hooks', 'push', 'pull', 'records', 'presence', 'stream', 'forgetting'],
  'services/webhooks': ['catalogue', 'dispatch', 'endpoints', 'deliveries', 'events'],
};

/** Tests may look anywhere. */
const tests = '\\.test\\.ts$|/testing(/|\\.ts|\\.store\\.ts)|^src/testing/|/fixtures?/';

const within = (folder, room) => `^src/${folder}/${room}/[^/]+$`;

/**
 * Nothing in a room imports a later room.
 * @param beside a pattern of the names of files beside the rooms that no room imports
 */
const downwards =
  (beside) =>
  ([folder, names]) =>
    names.map((room, index) => ({
      name: `${folder}/${room} imports only rooms before it`,
      severity: 'error',
      from: { path: within(folder, room), pathNot: tests },
      to: {
        path: [...names.slice(index + 1).map((later) => within(folder, later)), `^src/${folder}/${beside}$`],
      },
    }));

export default {
  forbidden: [
    {
      name: 'no circle',
      comment: 'Two files that need one another are one file, or a third is missing that both need.',
      severity: 'error',
      from: { pathNot: tests },
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'services meet over interfaces',
      severity: 'error',
      from: { path: '^src/services/([^/]+)/', pathNot: tests },
      to: { path: '^src/services/([^/]+)/', pathNot: '^src/services/$1/' },
    },
    {
      name: 'of another service only the interface and its types are known',
      severity: 'error',
      from: { path: '^src/services/([^/]+)/', pathNot: tests },
      to: { path: '^generated/[^/]+/', pathNot: '^generated/($1/|[^/]+/(server|types)\\.ts$)' },
    },
    {
      name: 'lib ← db, http ← delivery, notify ← services ← app ← main',
      severity: 'error',
      from: { path: '^src/(lib|db|http)/', pathNot: tests },
      to: { path: '^src/(delivery/|notify/|services/|[^/]+\\.ts$)' },
    },
    {
      name: 'delivery and notify know neither services nor one another',
      comment: 'Of HTTP, messages need only the escaping of markup.',
      severity: 'error',
      from: { path: '^src/(delivery|notify)/', pathNot: tests },
      to: { path: ['^src/(?!lib/|db/|http/html\\.ts$|$1/)', '^generated/'] },
    },
    {
      name: 'delivery and notify serve services only',
      severity: 'error',
      from: { path: '^src/', pathNot: `^src/(delivery|notify|services)/|${tests}` },
      to: { path: '^src/(delivery|notify)/' },
    },
    {
      name: 'lib depends on nothing of ours',
      severity: 'error',
      from: { path: '^src/lib/', pathNot: tests },
      to: { path: '^src/(?!lib/)' },
    },
    {
      name: 'db does not know of HTTP',
      severity: 'error',
      from: { path: '^src/db/', pathNot: tests },
      to: { path: '^src/http/' },
    },
    {
      name: 'rates, relay, jobs and all else that stands on the database know it, not the reverse',
      severity: 'error',
      from: { path: '^src/db/[^/]+$', pathNot: tests },
      to: { path: '^src/db/(rates|relay|engine)/' },
    },
    {
      name: 'services are composed, they do not compose',
      severity: 'error',
      from: { path: '^src/services/', pathNot: tests },
      to: { path: '^src/[^/]+\\.ts$' },
    },
    {
      name: 'app.ts knows of a service what its index.ts exports',
      severity: 'error',
      from: { path: '^src/app\\.ts$' },
      to: { path: '^src/services/', pathNot: '^src/services/[^/]+/index\\.ts$' },
    },
    {
      name: 'only app.ts loads services',
      severity: 'error',
      from: { path: '^src/[^/]+\\.ts$', pathNot: `^src/app\\.ts$|${tests}` },
      to: { path: '^src/services/' },
    },
    {
      name: 'services ask one another through ports, not through the SDK',
      comment:
        'Two pieces of code are the same on both sides: the parser of event streams, since auth follows the stream of another server, ' +
        'and the merging of changes, in which the server of sync and its replicas must agree.',
      severity: 'error',
      from: { path: '^src/services/', pathNot: tests },
      to: {
        path: '^sdk/',
        pathNot: '^sdk/src/(runtime/event-parser|sync/(hlc|canonical|sha256|cells|changes|merge))\\.ts$',
      },
    },
    {
      name: 'the engine of safety knows nothing of the service',
      severity: 'error',
      from: { path: '^src/services/safety/engine/', pathNot: tests },
      to: { path: '^src/services/safety/(?!engine/|packs/)' },
    },
    {
      name: 'of the engine, safety knows what its index.ts exports',
      severity: 'error',
      from: { path: '^src/services/safety/(?!engine/)', pathNot: tests },
      to: { path: '^src/services/safety/engine/(?!index\\.ts$)' },
    },
    ...Object.entries(rooms).flatMap(downwards('(?!settings|errors)[^/]+')),
    ...Object.entries(sharing).flatMap(downwards('index[.]ts')),
  ],
  options: {
    tsPreCompilationDeps: 'specify',
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: ['node_modules', '^generated/'] },
    enhancedResolveOptions: { extensions: ['.ts', '.js'] },
  },
};
