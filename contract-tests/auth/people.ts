/** Set-up that several tests in this folder share. */
import { randomBytes, randomInt } from 'node:crypto';
import { vi } from 'vitest';
import type { Message } from '../../generated/auth/types.ts';
import type { Api, SignedUp, Tenant } from '../harness.ts';

/** A well-formed id that belongs to no user. */
export const absentUser = 'user_01m7w6qgepfq9s8v7qdkvzwn99';
export const newEmail = () => `user-${randomBytes(6).toString('hex')}@example.com`;
/** Returns an unused phone number that is valid in its region. */
export const newPhone = () => `+49151${String(randomInt(100_000_000)).padStart(8, '0')}`;

/** Creates a tenant with an app. */
export async function tenantWithApp(api: Api): Promise<Tenant> {
  const tenant = api.tenant();
  await tenant.plinth.auth.apps.create({ body: { name: 'Default app', slug: 'default' } });
  return tenant;
}

export interface Organized {
  readonly tenant: Tenant;
  readonly ada: SignedUp;
  readonly orgId: string;
}

/** Creates a tenant with a user who owns an organization. */
export async function organized(api: Api): Promise<Organized> {
  const tenant = await tenantWithApp(api);
  const ada = await tenant.withUser();
  const { id } = await ada.plinth.auth.organizations.create({
    body: { name: 'Analytical Engines', slug: 'analytical-engines' },
  });
  return { tenant, ada, orgId: id };
}

/** Returns the newest message to an address or a number, and waits until there is one. */
export async function messageTo(tenant: Tenant, to: string, kind: Message['kind']): Promise<Message> {
  const newest = async () => {
    const [message] = (await tenant.plinth.auth.outbox.list({ to, kind })).messages;
    if (!message) throw new Error(`no ${kind} to ${to}`);
    return message;
  };
  return vi.waitFor(newest, { timeout: 10_000, interval: 20 });
}
