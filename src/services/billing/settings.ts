import { closeSync, openSync, readSync } from 'node:fs';
import { parseDuration } from '../../lib/durations.ts';
import { choice, duration, integer, type Setting, type SettingsOf, text } from '../../lib/settings.ts';
import { problemOfShownText } from '../../lib/shown-text.ts';

/** The most characters of a text of the seller, and the most lines of its address. */
const mostSellerText = 200;
const mostAddressLines = 8;

/** The settings that the service reads from the environment. Durations are in milliseconds. */
export const settings = {
  /** Who moves the money. `test` moves none; `none` refuses payments. */
  provider: choice('PLINTH_BILLING_PROVIDER', 'test', ['test', 'card-provider', 'billing-provider', 'none']),
  /** The secret key of the card provider. */
  cardKey: text('PLINTH_BILLING_CARD_PROVIDER_KEY', '', 'a secret key', /^\S{0,255}$/),
  /** The secrets with which the card provider signs notifications, newest first. Without any, all notifications are refused. */
  cardSecrets: list('PLINTH_BILLING_CARD_PROVIDER_SECRETS'),
  /** Where the card provider is reached; its public address unless set. */
  cardUrl: text('PLINTH_BILLING_CARD_PROVIDER_URL', '', 'a URL', /^(https?:\/\/\S{1,250})?$/),
  /** The secrets with which the billing provider signs notifications, newest first. */
  billingSecrets: list('PLINTH_BILLING_BILLING_PROVIDER_SECRETS'),
  /** The most usage events that wait in a process to be stored. */
  meterBuffer: integer('PLINTH_BILLING_METER_BUFFER', 10_000, { min: 100, max: 1_000_000 }),
  /** The most usage events of one transaction. */
  meterBatch: integer('PLINTH_BILLING_METER_BATCH', 1_000, { min: 1, max: 5_000 }),
  /** How old a usage event may be when it arrives. */
  lateWindowMs: duration('PLINTH_BILLING_LATE_WINDOW', '840h', { min: '1h', max: '8760h' }),
  /** How long a draft of a renewal waits for late usage before it becomes final. */
  invoiceGraceMs: duration('PLINTH_BILLING_INVOICE_GRACE', '1h', { min: '0s', max: '720h' }),
  /** How long a final invoice may remain unpaid. */
  paymentTermsMs: duration('PLINTH_BILLING_PAYMENT_TERMS', '720h', { min: '0s', max: '8760h' }),
  /** The waits between attempts to collect an invoice. */
  dunningMs: durations('PLINTH_BILLING_DUNNING', '24h,72h,120h'),
  /** How often each process looks for what time alone changes; `0s` means never. */
  tickMs: duration('PLINTH_BILLING_TICK', '10s', { min: '0s', max: '1h' }),
  /** `off`: invoices are not available as PDF. */
  pdf: choice('PLINTH_BILLING_PDF', 'on', ['on', 'off']),
  /** A font for scripts that the bundled ones lack; empty if there is none. */
  pdfFont: fontFile('PLINTH_BILLING_PDF_FONT'),
  /** Who sends the invoices, as JSON with `name`, `address` and `tax_id`, for the PDF. */
  seller: seller('PLINTH_BILLING_SELLER'),
};

export type Settings = SettingsOf<typeof settings>;

/** Who sends the invoices. What is unknown is empty. */
export interface Seller {
  readonly name: string;
  readonly address: readonly string[];
  readonly tax_id: string;
}

function list(name: string): Setting<readonly string[]> {
  return {
    name,
    default: '',
    rule: 'at most 10 secrets, separated by commas',
    parse(value) {
      const secrets = value.split(',').map((one) => one.trim());
      const given = secrets.filter((one) => one !== '');
      return given.length <= 10 ? given : undefined;
    },
  };
}

function durations(name: string, fallback: string): Setting<readonly number[]> {
  return {
    name,
    default: fallback,
    rule: 'at most 10 durations of at least 1m, separated by commas',
    parse(value) {
      try {
        const waits = value.trim() === '' ? [] : value.split(',').map((one) => parseDuration(one.trim()));
        return waits.length <= 10 && waits.every((ms) => ms >= 60_000) ? waits : undefined;
      } catch {
        return undefined;
      }
    },
  };
}

/** The first bytes of the font formats that the PDF library reads quickly: TrueType, OpenType and WOFF 1. */
const fontBeginnings: ReadonlySet<string> = new Set(['\0\x01\0\0', 'true', 'OTTO', 'wOFF']);

function fontFile(name: string): Setting<string> {
  return {
    name,
    default: '',
    rule: 'the path of a readable font file in the format TTF, OTF or WOFF',
    parse: (path) => (path === '' || fontBeginnings.has(beginningOf(path)) ? path : undefined),
  };
}

/** The first four bytes of a file; empty if it cannot be read. */
function beginningOf(path: string): string {
  const bytes = Buffer.alloc(4);
  try {
    const file = openSync(path, 'r');
    try {
      readSync(file, bytes, 0, 4, 0);
    } finally {
      closeSync(file);
    }
  } catch {
    return '';
  }
  return bytes.toString('latin1');
}

function seller(name: string): Setting<Seller> {
  return {
    name,
    default: '{}',
    rule: `a JSON object with no members but name, address (a list of at most ${mostAddressLines} lines) and tax_id, each text with 1 to ${mostSellerText} visible characters`,
    parse(value) {
      try {
        return sellerOf(JSON.parse(value));
      } catch {
        return undefined;
      }
    },
  };
}

function sellerOf(given: unknown): Seller | undefined {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return undefined;
  const { name = '', address = [], tax_id = '', ...others } = given as Record<string, unknown>;
  if (Object.keys(others).length > 0 || !Array.isArray(address) || address.length > mostAddressLines)
    return undefined;
  const isText = (value: unknown): value is string => typeof value === 'string' && isSellerText(value);
  if (!(name === '' || isText(name)) || !(tax_id === '' || isText(tax_id)) || !address.every(isText))
    return undefined;
  return { name, address, tax_id };
}

const isSellerText = (value: string): boolean =>
  value !== '' &&
  value.length <= mostSellerText &&
  value.isWellFormed() &&
  problemOfShownText(value) === undefined;
