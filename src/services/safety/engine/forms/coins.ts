import { keccak_256 } from '@noble/hashes/sha3.js';
import { bech32, bech32m, createBase58check } from '@scure/base';
import { hash } from 'node:crypto';
import type { Scan } from '../recognition/scan.ts';

const base58check = createBase58check((bytes: Uint8Array) => hash('sha256', bytes, 'buffer'));
const base58Form = /^[13][1-9A-HJ-NP-Za-km-z]{25,34}$/;
const bech32Form = /^(?:bc1[02-9ac-hj-np-z]{8,87}|BC1[02-9AC-HJ-NP-Z]{8,87})$/;
/** Version bytes of Bitcoin addresses: to a key, and to a script. */
const versions = new Set([0, 5]);

/** Recognises a Bitcoin address that is exactly this run. */
export function recogniseBitcoin(scan: Scan, start: number, end: number): void {
  if (!scan.wants('pii.bitcoin_address')) return;
  const address = scan.text.slice(start, end);
  if (!(base58Form.test(address) || bech32Form.test(address)) || !scan.begins(start) || !scan.ends(end))
    return;
  scan.work += 3_000;
  if (address.startsWith('1') || address.startsWith('3') ? isBase58(address) : isBech32(address))
    scan.add('pii.bitcoin_address', start, end, address);
}

function isBase58(address: string): boolean {
  try {
    const bytes = base58check.decode(address);
    return bytes.length === 21 && versions.has(bytes[0]!);
  } catch {
    return false;
  }
}

/** Witness version 0 has the older checksum, all later ones the newer. */
function isBech32(address: string): boolean {
  for (const code of [bech32, bech32m])
    try {
      const { words } = code.decode(address as `${string}1${string}`);
      if ((words[0] === 0) !== (code === bech32) || words[0]! > 16) continue;
      const { length } = code.fromWords(words.slice(1));
      return words[0] === 0 ? length === 20 || length === 32 : length >= 2 && length <= 40;
    } catch {
      // The other checksum may fit.
    }
  return false;
}

const ethereumForm = /^0x[0-9a-f]{40}$/i;

/** Recognises an Ethereum address that is exactly this run; its letters are a checksum when they differ in case. */
export function recogniseEthereum(scan: Scan, start: number, end: number): void {
  if (!scan.wants('pii.ethereum_address')) return;
  const address = scan.text.slice(start, end);
  if (!ethereumForm.test(address) || !scan.begins(start) || !scan.ends(end)) return;
  scan.work += 2_000;
  const digits = address.slice(2);
  const isMixed = digits !== digits.toLowerCase() && digits !== digits.toUpperCase();
  if (!isMixed || hasRightCase(digits))
    scan.add('pii.ethereum_address', start, end, `0x${digits.toUpperCase()}`);
}

function hasRightCase(digits: string): boolean {
  const hashed = Buffer.from(keccak_256(Buffer.from(digits.toLowerCase()))).toString('hex');
  return [...digits].every(
    (one, at) => one === (hashed.charAt(at) >= '8' ? one.toUpperCase() : one.toLowerCase()),
  );
}
