/**
 * The pass over the text. It stops at every run of letters and digits and at the few signs that forms have inside, and asks the
 * recognisers that may begin there. Each of these looks at a bounded piece of the text, so the whole is linear.
 */
import { recogniseAssignment, recogniseElement, recogniseOption } from '../secrets/assignments.ts';
import { isBasic, recogniseBasic, recogniseUserOption } from '../secrets/basic.ts';
import { recogniseEncodedKey, recognisePrivateKey } from '../secrets/private-keys.ts';
import {
  mayBeRunToken,
  recogniseAzureSecret,
  recognisePlinthKey,
  recogniseRunToken,
  recogniseSlackWebhook,
  recogniseToken,
} from '../secrets/tokens.ts';
import { recogniseWebToken } from '../secrets/web-tokens.ts';
import { alphanumeric, classOf, digit, lower, upper } from '../recognition/characters.ts';
import { recogniseCode, recogniseSeparatedCode } from './codes.ts';
import { recogniseCoordinates } from './coordinates.ts';
import { recogniseWrittenDate } from './dates.ts';
import { recogniseEmail } from './email.ts';
import { recogniseIban } from './iban.ts';
import { mayBeginMac, recogniseColons, recogniseIpv4, recogniseMac } from './network.ts';
import { recogniseNumbers } from './numbers.ts';
import { recogniseInternationalPhone, recogniseNationalPhone } from './phones.ts';
import type { Scan } from '../recognition/scan.ts';
import { recogniseMrz } from './travel-documents.ts';
import { recogniseUrl } from './urls.ts';
import type { Wishes } from '../recognition/wishes.ts';

/** The work between two pauses: about a millisecond. */
const workPerSlice = 32_768;

/** The longest run of letters and digits that a form can have inside. */
const longestRun = 128;

export async function scanText(scan: Scan, pause: () => Promise<void>): Promise<void> {
  const asks = new Questions(scan);
  for (let at = asks.slice(0); at < scan.text.length; at = asks.slice(at)) await pause();
}

/** Asks the recognisers that may begin at a place, of those that are wanted. */
class Questions {
  readonly #scan: Scan;
  readonly #wants: Wishes;

  constructor(scan: Scan) {
    this.#scan = scan;
    this.#wants = scan.wishes;
  }

  /** Reads on until the work of a slice is done or the text ends, and returns where. */
  slice(from: number): number {
    const scan = this.#scan;
    const { text } = scan;
    const due = from + scan.work + workPerSlice;
    let at = from;
    while (at < text.length && at + scan.work < due) {
      const unit = text.charCodeAt(at);
      if (unit === 32) at++;
      else at = (classOf(unit) & alphanumeric) !== 0 ? this.run(at) : this.sign(unit, at);
    }
    return at;
  }

  /** Asks about a run of letters and digits; returns where to go on. */
  run(start: number): number {
    const { text } = this.#scan;
    let end = start;
    let kinds = 0;
    for (let bits = 0; (bits = classOf(text.charCodeAt(end)) & alphanumeric) !== 0; end++) kinds |= bits;
    if (this.#wants.pem && text.charCodeAt(start) === 0x4c && end - start > 8) {
      const after = recogniseEncodedKey(this.#scan, start);
      if (after > start) return after;
    }
    if ((kinds & digit) === 0) return this.#word(start, end, kinds);
    if (end - start > longestRun) return this.#webToken(start, end);
    if (kinds === digit) this.#digits(start, end);
    else this.#mixed(start, end);
    return this.#webToken(start, end);
  }

  #word(start: number, end: number, kinds: number): number {
    const scan = this.#scan;
    const { text } = scan;
    const wants = this.#wants;
    const next = text.charCodeAt(end);
    if (wants.tokens && (next === 95 || next === 45 || next === 46)) recogniseToken(scan, start, end);
    if (wants.basic && isBasic(text, start, end)) recogniseBasic(scan, end);
    if (wants.mac && next === 45 && mayBeginMac(text, start, end)) recogniseMac(scan, start);
    if (kinds === lower) return this.#webToken(start, end);
    if (wants.tokens && mayBeRunToken(text, start)) recogniseRunToken(scan, start, end);
    if (end - start <= 6 && kinds === upper) {
      if (wants.codes) recogniseSeparatedCode(scan, start, end);
      if (wants.mrz && next === 60) recogniseMrz(scan, start);
    }
    return this.#webToken(start, end);
  }

  #digits(start: number, end: number): void {
    const scan = this.#scan;
    const wants = this.#wants;
    const { text } = scan;
    recogniseNumbers(scan, start, end);
    const length = end - start;
    const next = text.charCodeAt(end);
    if (next === 46 && length <= 3) {
      if (wants.ip) recogniseIpv4(scan, start);
      if (wants.coordinates) recogniseCoordinates(scan, start);
    }
    if (wants.codes && (length === 8 || length === 6 || length === 2))
      recogniseSeparatedCode(scan, start, end);
    if (length === 4 && wants.date) recogniseWrittenDate(scan, start, end);
    if (wants.mac && mayBeginMac(text, start, end)) recogniseMac(scan, start);
    if (wants.phone) {
      if (text.startsWith('00', start)) recogniseInternationalPhone(scan, start);
      recogniseNationalPhone(scan, start);
    }
  }

  #mixed(start: number, end: number): void {
    const scan = this.#scan;
    const { text } = scan;
    if (this.#wants.codes) recogniseCode(scan, start, end);
    if (end - start <= 34 && this.#wants.iban) recogniseIban(scan, start, end);
    if (this.#wants.tokens && mayBeRunToken(text, start)) recogniseRunToken(scan, start, end);
    if (this.#wants.plinth) recognisePlinthKey(scan, start, end);
    if (this.#wants.mac && mayBeginMac(text, start, end)) recogniseMac(scan, start);
    if (this.#wants.mrz && end - start >= 5) recogniseMrz(scan, start);
    if (this.#wants.codes && end - start === 2) recogniseSeparatedCode(scan, start, end);
  }

  /** A token of three parts may begin with any run; where it ends, nothing else can have begun. */
  #webToken(start: number, end: number): number {
    const { text } = this.#scan;
    if (text.charCodeAt(start) !== 0x65 || !this.#wants.jwt || !text.startsWith('eyJ', start)) return end;
    return Math.max(end, recogniseWebToken(this.#scan, start));
  }

  /** Asks about any other character; returns where to go on. */
  sign(unit: number, at: number): number {
    const scan = this.#scan;
    const wants = this.#wants;
    switch (unit) {
      case 0x40: // @
        if (wants.email && at >= scan.pastUrl) recogniseEmail(scan, at);
        break;
      case 0x3a: // :
        this.#colon(at);
        break;
      case 0x3d: // =
        if (wants.assignment) recogniseAssignment(scan, at);
        break;
      case 0x2b: // +
        if (wants.phone) recogniseInternationalPhone(scan, at);
        break;
      case 0x28: // (
        if (wants.phone) recogniseNationalPhone(scan, at);
        break;
      case 0x2d: // -
        if (wants.assignment) recogniseOption(scan, at);
        if (wants.basic) recogniseUserOption(scan, at);
        if (wants.pem) return Math.max(at + 1, recognisePrivateKey(scan, at));
        break;
      case 0x3c: // <
        if (wants.assignment) recogniseElement(scan, at);
        break;
      case 0x7e: // ~
        if (wants.azureSecret) recogniseAzureSecret(scan, at);
        break;
    }
    return at + 1;
  }

  #colon(at: number): void {
    const scan = this.#scan;
    const { text } = scan;
    if (text.startsWith('//', at + 1)) {
      if (this.#wants.url && at >= scan.pastUrl) recogniseUrl(scan, at);
      if (this.#wants.webhook && (classOf(text.charCodeAt(at - 1)) & lower) !== 0)
        recogniseSlackWebhook(scan, at - 5);
      return;
    }
    if (this.#wants.ip || this.#wants.mac) recogniseColons(scan, at);
    if (this.#wants.assignment) recogniseAssignment(scan, at);
  }
}
