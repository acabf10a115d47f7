/** The kinds of rules that the tests create. */
import { randomBytes } from 'node:crypto';
import type { Credential } from '../harness.ts';

export const newName = (): string => `rule ${randomBytes(6).toString('hex')}`;

/** The least that a rule of each kind needs, the first part of its ids, and the word for it. */
export const kinds = {
  instincts: { prefix: 'inst', entity: 'instinct', body: { category: 'injection' } },
  awareness: { prefix: 'awr', entity: 'awareness', body: { focus: 'pii' } },
  boundaries: {
    prefix: 'bnd',
    entity: 'boundary',
    body: { limits: [{ scope: 'custom', deny: ['internal roadmap'] }] },
  },
  values: { prefix: 'val', entity: 'value', body: { rules: [{ principle: 'toxicity' }] } },
  judgments: { prefix: 'jdg', entity: 'judgment', body: { domain: 'grounding' } },
  reflexes: {
    prefix: 'rflx',
    entity: 'reflex',
    body: { triggers: [{ type: 'always' }], actions: [{ type: 'log' }] },
  },
  profiles: { prefix: 'sprf', entity: 'profile', body: {} },
  policies: { prefix: 'spol', entity: 'policy', body: {} },
} as const;

/** Creates a rule of each kind as the operator, and a scan in the tenant of the sender. Returns their ids by prefix. */
export async function leaveRules(
  operator: Pick<Credential, 'plinth'>,
  sender: Pick<Credential, 'plinth'>,
): Promise<Record<string, string>> {
  const left: Record<string, string> = {};
  for (const [name, { prefix, body }] of Object.entries(kinds)) {
    const rules = operator.plinth.safety[name as keyof typeof kinds] as unknown as {
      create(request: { body: object }): Promise<{ id: string }>;
    };
    left[prefix] = (await rules.create({ body: { name: newName(), ...body } })).id;
  }
  left['scan'] = (await sender.plinth.safety.scans.input({ body: { text: 'Write to anna@example.com' } })).id;
  return left;
}
