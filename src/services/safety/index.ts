/**
 * Content safety: decides about texts on their way into or out of a language model, records what it decided, and keeps the rules.
 *
 * Terminology:
 * - Primitive: a named rule set of one of six kinds. Instinct: attacks. Awareness: personal data, secrets, topics. Boundary: hard
 *   limits. Value: ethics. Judgment: risk in context. Reflex: acts on what the others found.
 * - Profile: which primitives run. Policy: rules over findings, for the whole app or for assigned tenants. Rule: any of these eight.
 * - Detector: a built-in recogniser. Finding: one detection.
 * - Matcher: the rules of a profile, compiled by the engine.
 * - Vault: the encrypted originals behind reversible placeholders. Token: such a placeholder.
 */
import { createChanges } from '../../db/changes.ts';
import type { Service, ServiceModule } from '../../http/service.ts';
import { detectorHandlers } from './detectors.ts';
import { encodeError } from './errors.ts';
import { createLines } from './lines.ts';
import { createMatchers } from './matchers/matchers.ts';
import { policies } from './policies/policies.ts';
import { primitives } from './rules/primitives.ts';
import { createRecorder } from './scans/recorder.ts';
import { createScanner } from './scans/scanner.ts';
import { scans } from './scans/scans.ts';
import { settings } from './settings.ts';
import { sweeps } from './sweeps.ts';
import { createTenantKeys } from './vault/keys.ts';
import { vault } from './vault/vault.ts';
import { createWriter } from './writes.ts';

/** A poll comes this many times within the staleness bound, so that one that fails does not yet make caches useless. */
const pollsWithinBound = 3;

export const safety: ServiceModule<typeof settings> = {
  name: 'safety',
  migrations: new URL('./migrations/', import.meta.url),
  settings,
  create({ db, settings, sealer, log }): Service {
    const { stalenessMs } = settings;
    const pollMs = Math.max(10, Math.floor(stalenessMs / pollsWithinBound));
    const changes = createChanges({ db, schema: 'safety', log, stalenessMs, pollMs });
    const deps = { db, changes, settings };
    const lines = createLines();
    const write = createWriter({ ...deps, lines });
    const matchers = createMatchers(deps);
    const keys = createTenantKeys({ ...deps, sealer });
    const recorder = createRecorder({ ...deps, lines });
    const scanner = createScanner({ ...deps, matchers, keys, recorder });
    return {
      handlers: {
        ...primitives({ db, write }),
        Policies: policies({ db, write }),
        Scans: scans({ ...deps, matchers, scanner }),
        Vault: vault({ ...deps, keys, lines }),
        Detectors: detectorHandlers(),
      },
      encodeError,
      sweeps: [...sweeps({ ...deps, sealer }), changes.sweep],
      outbox: {},
      queues: () => [{ queue: 'safety.scans', ...scanner.figures(), waiting: recorder.waiting() }],
      start: () => changes.start(),
      async stop() {
        await recorder.stop();
        await changes.stop();
      },
    };
  },
};
