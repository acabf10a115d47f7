/** The resources of each document in the order in which a user meets them; the compiler has them in the order of its files. */
const orders: Readonly<Record<string, readonly string[]>> = {
  Auth: [
    ...['Accounts', 'Me', 'Sessions', 'Mfa', 'Phone', 'Devices', 'Organizations', 'Members', 'Invitations'],
    ...['Teams', 'Users', 'Roles', 'Apps', 'Branding', 'Forms', 'Clients', 'OAuth', 'DeviceGrant', 'Tokens'],
    ...['Discovery', 'ClientRegistration', 'SigningKeys', 'Webhooks', 'Pages', 'Outbox', 'Admin'],
  ],
  Authz: [
    ...['Decisions', 'Relations', 'Roles', 'Permissions', 'Assignments', 'Policies', 'Subjects'],
    'ResourceTypes',
  ],
  Keys: ['Keys', 'Policies', 'Scopes', 'Usage'],
  Jobs: ['Jobs', 'Queues', 'Leases', 'Crons', 'Workflows', 'Runs', 'Dlq', 'Stats'],
  Webhooks: ['EventTypes', 'Endpoints', 'Events', 'Deliveries', 'Dlq', 'Stats'],
  Audit: ['Events', 'Streams', 'Verification', 'Reports', 'Stats', 'Erasures', 'Retention'],
  Safety: [
    ...['Scans', 'Profiles', 'Policies', 'Instincts', 'Detectors', 'Awareness', 'Boundaries', 'Values'],
    ...['Judgments', 'Reflexes', 'Vault'],
  ],
  Billing: [
    ...['Plans', 'Customers', 'Subscriptions', 'Meter', 'Entitlements', 'Invoices', 'Payments'],
    ...['PaymentMethods', 'Coupons', 'TaxRates', 'Notifications'],
  ],
  Storage: ['Buckets', 'Objects', 'Uploads', 'Cas', 'S3Credentials', 'Admin'],
  Sync: ['Tables', 'Changes', 'Records', 'Nodes', 'Presence', 'Info'],
  Gateway: [
    ...['Routes', 'Upstreams', 'Config', 'Certificates', 'Challenges', 'Cache', 'Discovery', 'OpenApi'],
    ...['Nodes', 'Feed', 'Stats', 'Metrics', 'Dashboard'],
  ],
  Control: [
    ...['Tenants', 'Deployments', 'Releases', 'Operations', 'Replicas', 'Instances', 'Routes', 'Domains'],
    ...['Secrets', 'HealthChecks', 'Telemetry', 'Audit', 'Admin'],
  ],
  Retrieval: ['Collections', 'Documents', 'Search', 'Chunks', 'Embedders'],
  Agents: [
    ...['Agents', 'Models', 'Personas', 'Traits', 'Behaviors', 'Skills', 'Tools', 'McpServers'],
    ...['Conversations', 'Runs', 'Checkpoints'],
  ],
};

/** Puts the tags of a document into that order. Throws for a tag that has no place in it. */
export function inReadingOrder(name: string, text: string): string {
  const document = JSON.parse(text) as { tags: { name: string }[] };
  const order = orders[name] ?? [];
  const placeOf = (tag: string) => {
    const place = order.indexOf(tag);
    if (place === -1) throw new Error(`spec/codegen/reading-order.ts: ${name} has no place for ${tag}`);
    return place;
  };
  document.tags.sort((one, other) => placeOf(one.name) - placeOf(other.name));
  return `${JSON.stringify(document, null, 2)}\n`;
}
