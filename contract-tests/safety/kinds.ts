/** The kinds of rules that the tests create. */
import { randomBytes } from 'node:crypto';

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
