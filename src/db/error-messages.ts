const errorResponse = 0x45;
const readOnly = Buffer.from('C25006\0');
const diskFull = Buffer.from('C53100\0');
const fileTrouble = Buffer.from('C58');

/** Yields the errors among messages of the PostgreSQL protocol, as views of the same bytes. The bytes must start with a message. */
function* errorsIn(messages: Uint8Array): Generator<Buffer> {
  const view = Buffer.from(messages.buffer, messages.byteOffset, messages.byteLength);
  for (let start = 0; start + 5 <= view.length;) {
    const end = start + 1 + view.readUInt32BE(start + 1);
    if (view[start] === errorResponse) yield view.subarray(start, end);
    start = end;
  }
}

/**
 * The embedded database is made read-only while its disk is nearly full; this makes its refusals of writes report a full disk. It
 * replaces the code in the errors, in place, by one of the same length.
 */
export function diskFullInstead<Bytes extends Uint8Array>(messages: Bytes): Bytes {
  for (const error of errorsIn(messages)) {
    const at = error.indexOf(readOnly);
    if (at >= 0) diskFull.copy(error, at);
  }
  return messages;
}

/**
 * Whether an error has class 58: a file could not be opened, created or read, for example because descriptors ran out. What the
 * embedded database remembers of that file is wrong from then on.
 */
export function hasFileTrouble(messages: Uint8Array): boolean {
  for (const error of errorsIn(messages)) if (error.includes(fileTrouble)) return true;
  return false;
}
