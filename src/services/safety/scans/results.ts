import type { Finding, RedactedMessage, ScanPreview } from '../../../../generated/safety/types.ts';
import type { EngineResult, MessageSpan } from '../engine/index.ts';

/** The members of a result that do not come from the engine. */
export type Circumstances = Pick<
  ScanPreview,
  | 'profile_used'
  | 'tenant_id'
  | 'app_id'
  | 'created_at'
  | 'policies_used'
  | 'revision'
  | 'metadata'
  | 'detectors'
  | 'min_score'
  | 'duration'
> & {
  readonly messages: readonly MessageSpan[] | undefined;
  readonly skipped: readonly string[];
};

const mostSkipped = 64;

/** The result of a scan, without its id. */
export function resultOf(
  engine: EngineResult,
  { messages, skipped, ...circumstances }: Circumstances,
): Omit<ScanPreview, 'id'> {
  const { vaulted: _, alerts: __, redactedMessages: ___, findings, ...result } = engine;
  return storable({
    ...result,
    ...circumstances,
    findings: findings.map((finding): Finding => ({
      ...finding,
      message_index: finding.message_index ?? null,
    })),
    // What was sent as messages is passed on as messages.
    redacted: messages === undefined ? result.redacted : '',
    redacted_messages: messages === undefined ? [] : messagesOf(engine, messages),
    skipped: [...skipped, ...result.skipped].slice(0, mostSkipped),
  });
}

/** The messages to pass on. A text that a reflex wrote stands for all of them, and is the last one's. */
function messagesOf(
  { redacted, redactedMessages }: EngineResult,
  messages: readonly MessageSpan[],
): RedactedMessage[] {
  if (redactedMessages !== undefined)
    return redactedMessages.map((content, index) => ({ role: roleOf(messages[index]!), content }));
  return redacted === '' ? [] : [{ role: roleOf(messages.at(-1)!), content: redacted }];
}

const roleOf = ({ role }: MessageSpan) => role as RedactedMessage['role'];

/** Puts U+FFFD in place of what a database cannot store: U+0000 and lone surrogates. */
function storable<Value>(value: Value): Value {
  if (isStorable(value)) return value;
  return JSON.parse(JSON.stringify(value), (_, member: unknown) =>
    typeof member === 'string' ? member.replaceAll('\0', '\ufffd').toWellFormed() : member,
  ) as Value;
}

/** Most results are, which is seen much faster than all of a result is written and read as JSON. */
function isStorable(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\0');
  if (typeof value !== 'object' || value === null) return true;
  return Object.values(value).every(isStorable);
}
