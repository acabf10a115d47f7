import type { Direction, ScanPreview, ScanRequest, ScanResult } from '../../../../generated/safety/types.ts';
import { monotonic } from '../../../db/clock.ts';
import type { Context } from '../../../http/context.ts';
import { isOperators } from '../../../http/operators.ts';
import { Forbidden, Invalid, Unavailable } from '../../../lib/errors.ts';
import { newId } from '../../../lib/ids.ts';
import { momentText } from '../../../lib/moments.ts';
import type { Deps } from '../deps.ts';
import { detectorCatalogue, type EngineResult, Interrupted, scan } from '../engine/index.ts';
import type { Matchers, Rules } from '../matchers/matchers.ts';
import {
  digestOf,
  hashOf,
  longTokenLength,
  newDataKey,
  seal,
  tokenLength,
  tokenOf,
  type VaultKeys,
  vaultKeysOf,
} from '../vault/cryptography.ts';
import type { TenantKey, TenantKeys } from '../vault/keys.ts';
import type { NewToken } from '../vault/tokens.store.ts';
import { Places } from './places.ts';
import type { Recorder } from './recorder.ts';
import { resultOf } from './results.ts';
import { checkContext, checkMetadata } from './scan-context.ts';
import { eventsOf } from './scan-events.ts';
import { type ScanText, scanTextOf } from './scan-text.ts';
import { Turns } from './turns.ts';

export interface Scanner {
  /** Scans a text, and answers when the result is stored. */
  scan(request: ScanRequest, direction: Direction, context: Context): Promise<ScanResult>;
  /** Scans a text by these rules, and stores nothing. */
  preview(request: ScanRequest, direction: Direction, context: Context, rules: Rules): Promise<ScanPreview>;
  readonly figures: () => { readonly running: number; readonly refused: number };
}

interface ScannerDeps extends Pick<Deps, 'changes' | 'settings'> {
  readonly matchers: Matchers;
  readonly keys: TenantKeys;
  readonly recorder: Recorder;
}

/** A request that was checked, with what the engine needs of it. */
interface Prepared extends ScanText {
  readonly request: ScanRequest;
  readonly direction: Direction;
  readonly userId: string;
  readonly skipped: readonly string[];
}

/** How often a scan begins again because its tenant's key was destroyed meanwhile. */
const mostAttempts = 5;

/** So few that sealing them takes about a millisecond. */
const sealedPerTurn = 50;

const knownDetectors = new Set(detectorCatalogue.map(({ id }) => id));

/** Runs scans: a place first, then the rules, the engine in turns with other tenants, and the record. */
export function createScanner({ changes, settings, matchers, keys, recorder }: ScannerDeps): Scanner {
  const places = new Places(settings.queue);
  const turns = new Turns();

  async function run(
    { text, messages, request, direction, userId, skipped }: Prepared,
    context: Context,
    rules: Rules,
    { key, taken = noTokens }: { key: VaultKeys | undefined; taken?: ReadonlySet<string> },
  ) {
    const { tenant } = context;
    const pause = () => turns.next(tenant);
    await pause();
    const now = changes.clock.now();
    const began = monotonic();
    const named = key ?? noKeys;
    const engine = await interruptible(
      scan(rules.matcher, {
        ...{ text, direction, userId, messages, pause },
        context: request.context ?? {},
        metadata: request.metadata ?? {},
        detectors: request.detectors,
        minScore: request.min_score,
        policies: rules.policies,
        vault: { tokenOf: (name, label, raw) => freeToken(digestOf(named, name, raw), label, taken) },
        hash: (name, normalised) => hashOf(named, name, normalised),
        endsAt: began + settings.deadlineMs,
      }),
    );
    const result = resultOf(engine, {
      ...{ messages, skipped },
      duration: `${(monotonic() - began).toFixed(3)}ms`,
      profile_used: rules.profile,
      tenant_id: tenant,
      app_id: context.app,
      created_at: momentText(now),
      policies_used: [...rules.policyNames],
      revision: rules.revision,
      metadata: request.metadata ?? {},
      detectors: request.detectors ?? [],
      min_score: request.min_score ?? 0,
    });
    return { engine, result, now };
  }

  async function recorded(prepared: Prepared, context: Context, rules: Rules): Promise<ScanResult> {
    const taken = new Set<string>();
    let destroyed: string | undefined;
    for (let attempt = 0; attempt < mostAttempts; attempt++) {
      const key = rules.isKeyed ? await keys.obtain(context.tenant, destroyed) : undefined;
      const { engine, result, now } = await run(prepared, context, rules, { key: key?.keys, taken });
      const complete: ScanResult = { id: newId('scan', now), ...result };
      const stored =
        settings.storeRedacted === 'on' ? complete : { ...complete, redacted: '', redacted_messages: [] };
      const kept = await recorder.keep({
        result: stored,
        userId: prepared.userId,
        tokens: key === undefined ? [] : await tokensOf(engine, key, complete.id, prepared.userId),
        events: eventsOf(complete, engine.alerts, context.actor),
      });
      if (kept === 'stored') return complete;
      if (kept === 'key destroyed') destroyed = key?.id;
      else for (const token of kept.taken) taken.add(token);
    }
    throw Unavailable('the keys of the vault are being erased');
  }

  /** Seals what goes into the vault, each value once. */
  async function tokensOf(
    { vaulted }: EngineResult,
    key: TenantKey,
    scanId: string,
    userId: string,
  ): Promise<NewToken[]> {
    const tokens = new Map<string, NewToken>();
    for (const [at, value] of vaulted.entries()) {
      if (at % sealedPerTurn === sealedPerTurn - 1) await turns.next(key.tenant);
      const { label, token: end, name, raw } = value;
      const token = `${label}_${end}`;
      const digest = digestOf(key.keys, name, raw);
      // Two values of one token are told apart when they are stored.
      const place = `${token} ${digest.toString('latin1')}`;
      if (tokens.has(place)) continue;
      const sealed = seal(key.keys, { tenant: key.tenant, token, name }, raw);
      const common = { tenant_id: key.tenant, key_id: key.id, scan_id: scanId, user_id: userId };
      tokens.set(place, { ...common, token, name, digest, sealed });
    }
    return [...tokens.values()];
  }

  return {
    scan: (request, direction, context) => {
      const prepared = prepare(request, direction, context);
      return places.within(context.tenant, async () => {
        const rules = await matchers.rulesFor(context, request.profile);
        checkChoice(rules, context);
        return await recorded(prepared, context, rules);
      });
    },
    preview: (request, direction, context, rules) => {
      const prepared = prepare(request, direction, context);
      return places.within(context.tenant, async () => {
        // A tenant without a key gets none here: its tokens are made up, and nobody can restore them anyway.
        const key = rules.isKeyed ? await keys.find(context.tenant) : undefined;
        const { result } = await run(prepared, context, rules, { key: key?.keys });
        return { id: '', ...result };
      });
    },
    figures: () => places.figures,
  };
}

const noTokens: ReadonlySet<string> = new Set();

/** The token of a value: a longer one if another value has the short one. */
function freeToken(digest: Buffer, label: string, taken: ReadonlySet<string>): string {
  const short = tokenOf(digest, tokenLength);
  return taken.has(`${label}_${short}`) ? tokenOf(digest, longTokenLength) : short;
}

/** Names nothing that anyone could restore: for rules that use no key, and for previews of tenants without one. */
const noKeys = vaultKeysOf(newDataKey());

/** Who cannot take a policy away cannot leave its profile either. @throws Forbidden */
function checkChoice({ overruled }: Rules, context: Context): void {
  if (overruled === undefined || isOperators(context)) return;
  if (overruled.isOperators || !context.holds('safety:admin'))
    throw Forbidden(`profile: the policy "${overruled.policy}" chooses "${overruled.profile}" here`);
}

function prepare(request: ScanRequest, direction: Direction, context: Context): Prepared {
  const { userId, skipped } = checkContext(request.context ?? {});
  checkMetadata(request.metadata ?? {});
  const unknown = request.detectors?.findIndex((id) => !knownDetectors.has(id)) ?? -1;
  if (unknown >= 0) throw Invalid(`detectors[${unknown}]: no detector has this id`);
  return { ...scanTextOf(request), request, direction, skipped, userId: userId ?? callerOf(context) };
}

/** The author of a text that names none: the user or the key that sent it. Root is nobody's author. */
const callerOf = ({ userId, credential }: Context) =>
  userId ?? (credential.kind === 'key' ? credential.id : '');

/** The engine's own limits are answers, not failures: what a request asked for is too much, or the server has too much to do. */
async function interruptible(work: Promise<EngineResult>): Promise<EngineResult> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error;
    if (error.type === 'engine.timeout') throw Unavailable('the scan took too long', { cause: error });
    throw Invalid("text: too long for the regular expressions of the profile's rules", { cause: error });
  }
}
