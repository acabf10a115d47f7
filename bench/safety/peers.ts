/** Other detectors of personal data and secrets, and what one would write without any: a loop of regular expressions. */
import { lintSource } from '@secretlint/core';
import { creator } from '@secretlint/secretlint-rule-preset-recommend';
import redactPiiModule from 'redact-pii';
import type { Finder } from './detection.ts';

/** `redact-pii` with the rules for the kinds that are compared; the others would find names and words in harmless texts. */
export const redactPiiTypes: ReadonlySet<string> = new Set(
  ['email', 'credit_card', 'ip_address', 'phone', 'us_ssn'].map((name) => `pii.${name}`),
);

export function redactPii(): Finder {
  const off = { enabled: false };
  const redactor = new redactPiiModule.SyncRedactor({
    builtInRedactors: {
      ...{ names: off, zipcode: off, streetAddress: off, username: off },
      ...{ password: off, credentials: off, url: off, digits: off },
    },
  });
  return {
    // It returns the redacted text only: what stayed of the beginning and of the end bounds what went.
    async spans({ text }) {
      const redacted = redactor.redact(text);
      if (redacted === text) return [];
      let start = 0;
      while (text[start] === redacted[start]) start++;
      let end = 0;
      while (text.at(-1 - end) === redacted.at(-1 - end) && end < text.length - start) end++;
      return [[start, text.length - end]];
    },
  };
}

/** The kinds for which the recommended rules of secretlint have one. */
export const secretlintTypes: ReadonlySet<string> = new Set(
  [
    ...['aws_access_key', 'aws_secret_key', 'github_token', 'slack_token', 'slack_webhook', 'openai_key'],
    ...['anthropic_key', 'npm_token', 'sendgrid_key', 'private_key', 'connection_string'],
  ].map((name) => `secret.${name}`),
);

export function secretlint(): Finder {
  const config = { rules: [{ id: '@secretlint/secretlint-rule-preset-recommend', rule: creator }] };
  return {
    async spans({ text }) {
      const source = { filePath: '/text.txt', content: text, ext: '.txt', contentType: 'text' as const };
      const { messages } = await lintSource({ source, options: { config } });
      return messages.map(({ range }) => [range[0], range[1]] as const);
    },
  };
}

/** One expression a kind, as collections of them have it, all run over the whole text. */
const expressions: Record<string, RegExp> = {
  'pii.email': /\b[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9.-]{1,253}\.[A-Za-z]{2,63}\b/g,
  'pii.credit_card': /\b(?:\d[ -]?){12,18}\d\b/g,
  'pii.iban': /\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?\b/g,
  'pii.phone':
    /(?:\+|\b00)\d{1,3}[ .-]?(?:\(?\d{1,4}\)?[ .-]?){1,4}\d{2,4}\b|\(?\b\d{3}\)?[ .-]\d{3}[ .-]\d{4}\b/g,
  'pii.ip_address': /\b(?:\d{1,3}\.){3}\d{1,3}\b|\b(?:[A-Fa-f0-9]{1,4}:){2,7}:?[A-Fa-f0-9]{1,4}\b/g,
  'pii.mac_address': /\b(?:[0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}\b/g,
  'pii.us_ssn': /\b\d{3}-\d{2}-\d{4}\b/g,
  'pii.gb_nino': /\b[A-Z]{2} ?\d{2} ?\d{2} ?\d{2} ?[A-D]\b/g,
  'pii.es_nif': /\b[XYZ]?\d{7,8}[A-Z]\b/g,
  'pii.it_fiscal_code': /\b[A-Z]{6}\d{2}[A-Z]\d{2}[A-Z]\d{3}[A-Z]\b/g,
  'pii.br_cpf': /\b\d{3}\.\d{3}\.\d{3}-\d{2}\b/g,
  'pii.in_pan': /\b[A-Z]{5}\d{4}[A-Z]\b/g,
  'pii.vin': /\b[A-HJ-NPR-Z0-9]{17}\b/g,
  'pii.ethereum_address': /\b0x[a-fA-F0-9]{40}\b/g,
  'pii.bitcoin_address': /\b(?:bc1|[13])[a-zA-HJ-NP-Z0-9]{25,59}\b/g,
  'secret.aws_access_key': /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g,
  'secret.aws_secret_key': /(?<![A-Za-z0-9/+=])[A-Za-z0-9/+=]{40}(?![A-Za-z0-9/+=])/g,
  'secret.github_token': /\bgh[pousr]_[A-Za-z0-9]{36}\b|\bgithub_pat_[A-Za-z0-9_]{82}\b/g,
  'secret.gitlab_token': /\bglpat-[A-Za-z0-9_-]{20}/g,
  'secret.slack_token': /\bxox[abprs]-[A-Za-z0-9-]{10,200}/g,
  'secret.slack_webhook': /https:\/\/hooks\.slack\.com\/services\/[A-Za-z0-9/]{40,80}/g,
  'secret.stripe_key': /\b[sr]k_(?:live|test)_[A-Za-z0-9]{16,99}\b/g,
  'secret.openai_key': /\bsk-(?:proj-)?[A-Za-z0-9_-]{40,200}/g,
  'secret.anthropic_key': /\bsk-ant-[A-Za-z0-9_-]{80,120}/g,
  'secret.google_api_key': /\bAIza[A-Za-z0-9_-]{35}/g,
  'secret.npm_token': /\bnpm_[A-Za-z0-9]{36}\b/g,
  'secret.sendgrid_key': /\bSG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}/g,
  'secret.private_key':
    /-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----[\s\S]{0,8192}?-----END [A-Z ]{0,20}PRIVATE KEY-----/g,
  'secret.jwt': /\beyJ[A-Za-z0-9_-]{10,2000}\.[A-Za-z0-9_-]{10,8000}\.[A-Za-z0-9_-]{10,1000}/g,
  'secret.connection_string': /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:@/]{0,64}:[^\s@/]{1,128}@[^\s"'<>]{1,256}/g,
  'secret.generic_assignment':
    /(?:password|secret|token|api[_-]?key)["' ]{0,2}[:=]["' ]{0,2}[^\s"']{12,128}/gi,
};

export const expressionTypes: ReadonlySet<string> = new Set(Object.keys(expressions));

export function regexes(): Finder {
  const all = Object.values(expressions);
  return {
    async spans({ text }) {
      return all.flatMap((expression) =>
        [...text.matchAll(expression)].map((match) => [match.index, match.index + match[0].length] as const),
      );
    },
  };
}
