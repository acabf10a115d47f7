import type {
  AttackCategory,
  AwarenessAction,
  AwarenessPrimitiveCreate,
  BoundaryCreate,
  Direction,
  Finding,
  InstinctAction,
  InstinctCreate,
  JudgmentCreate,
  Policy,
  Redaction,
  ReflexCreate,
  ScanFallback,
  ScanPreview,
  Sensitivity,
  ValueAction,
  ValueCreate,
} from '../../../../generated/safety/types.ts';
import type { CompiledPolicy } from './policies/policies.ts';

/** An instinct as a profile uses it. */
export interface InstinctRule {
  readonly primitive: InstinctCreate;
  /** The profile's sensitivity; absent or null means that of the instinct. */
  readonly sensitivity?: Sensitivity | null | undefined;
  /** Only built-in profiles set this. */
  readonly action?: InstinctAction | undefined;
}

/** An awareness as a profile uses it. */
export interface AwarenessRule {
  readonly primitive: AwarenessPrimitiveCreate;
  /** The profile's action; absent or null means that of the awareness. */
  readonly action?: AwarenessAction | null | undefined;
  /** Only built-in profiles set this. */
  readonly threshold?: number | undefined;
}

/** A value as a profile uses it. */
export interface ValueUse {
  readonly primitive: ValueCreate;
  /** Only built-in profiles set these. */
  readonly threshold?: number | undefined;
  readonly action?: ValueAction | undefined;
}

/** A judgment as a profile uses it. */
export interface JudgmentRule {
  readonly primitive: JudgmentCreate;
  /** The profile's threshold; absent or null means that of the judgment. */
  readonly threshold?: number | null | undefined;
}

/**
 * The rules of one profile: its primitives with the profile's overrides. Stored primitives have the members of `…Create`
 * and more, and those of a preview have just these. Disabled primitives are skipped.
 */
export interface ProfileRules {
  readonly revision: number;
  readonly instincts: readonly InstinctRule[];
  readonly awareness: readonly AwarenessRule[];
  readonly boundaries: readonly BoundaryCreate[];
  readonly values: readonly ValueUse[];
  readonly judgments: readonly JudgmentRule[];
  readonly reflexes: readonly ReflexCreate[];
  readonly redaction: Redaction;
  /** The countries of phone numbers that a word such as `Tel.` announces. */
  readonly phone_regions: readonly string[];
  readonly short_circuit: boolean;
  readonly on_error: ScanFallback;
}

/** The part of a policy that the engine evaluates. */
export type PolicyRules = Pick<Policy, 'name' | 'rules'>;

/** Names a value for the vault: a pure function of the tenant's key. The service stores what was named afterwards. */
export interface VaultPort {
  tokenOf(name: string, label: string, raw: string): string;
}

/** One of the messages of which a text consists. */
export interface MessageSpan {
  readonly role: string;
  readonly start: number;
  readonly end: number;
}

export interface ScanInput {
  readonly text: string;
  readonly direction: Direction;
  readonly context: Readonly<Record<string, unknown>>;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** The author of the text: `user_id` of the context, or else the caller's user or key; empty for none. */
  readonly userId: string;
  /** The built-in detectors whose findings are listed; absent means all. They narrow what is listed, not what is decided. */
  readonly detectors?: readonly string[] | undefined;
  /** The lowest score of a finding that is listed. */
  readonly minScore?: number | undefined;
  /** The policies in force, by priority and name. */
  readonly policies: readonly CompiledPolicy[];
  /** The offsets of the messages in the text, if it consists of messages. */
  readonly messages?: readonly MessageSpan[] | undefined;
  readonly vault: VaultPort;
  /** The 12 hex digits of `[EMAIL:<12 hex>]`. */
  readonly hash: (name: string, normalised: string) => string;
  /** Lets other tasks run. The engine calls it whenever it has worked for a few milliseconds. */
  readonly pause: () => Promise<void>;
  /** When a scan has taken too long, by the monotonic clock. */
  readonly endsAt: number;
}

/** What a vaulted value needs to be restored: `[<label>_<token>]` stands for `raw`. */
export interface Vaulted {
  readonly label: string;
  readonly token: string;
  readonly name: string;
  readonly raw: string;
}

/** An event to raise when the scan is recorded: an instinct with `alert`, or a reflex with `escalate`. */
export interface Alert {
  readonly event: 'alert' | 'escalation';
  /** The name of the instinct or reflex. */
  readonly source: string;
  readonly category?: AttackCategory | undefined;
  readonly score: number;
}

/** A finding; in a scan of messages its offsets are those in the content of its message. */
export type EngineFinding = Omit<Finding, 'message_index'> & { message_index?: number };

export type EngineResult = Pick<
  ScanPreview,
  | 'direction'
  | 'decision'
  | 'blocked'
  | 'redacted'
  | 'pii_count'
  | 'response'
  | 'layers_run'
  | 'skipped'
  | 'truncated'
> & {
  findings: EngineFinding[];
  /** The contents of the messages after redaction; present exactly when messages were scanned and something was redacted. */
  redactedMessages?: string[];
  vaulted: Vaulted[];
  alerts: Alert[];
};
