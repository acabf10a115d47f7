import type { Sealer } from '../lib/seal.ts';
import type { Draft } from './message.ts';

/** The confidential part of a message: it gives access to anyone who reads it. */
export type MessageContent = Pick<Draft<string>, 'text' | 'html' | 'token' | 'code'>;

const purpose = (schema: string) => `${schema}/messages/v1`;

/** Seals the content, so that a copy of the database does not reveal it. */
export const sealContent = (
  sealer: Sealer,
  schema: string,
  tenant: string,
  content: MessageContent,
): Buffer => sealer.seal(purpose(schema), tenant, JSON.stringify(content));

/** Opens the sealed content; empty once the message was handed over and its content deleted. */
export const openContent = (
  sealer: Sealer,
  schema: string,
  tenant: string,
  box: Buffer | null,
): MessageContent =>
  box === null
    ? { text: '', html: null, token: null, code: null }
    : (JSON.parse(sealer.open(purpose(schema), tenant, box).toString()) as MessageContent);
