import type { MacKey } from './mac-key.ts';

/** The key of a person, together with the reference by which the person's events are found. */
export class PersonKey {
  readonly key: MacKey;
  readonly #ref: Uint8Array;
  #owner: Buffer | undefined;
  #resources: Buffer | undefined;

  constructor(key: MacKey, ref: Uint8Array) {
    [this.key, this.#ref] = [key, ref];
  }

  /**
   * What commitments name the person by. It fixes the key and the reference, and opens nothing: an erasure tells it in the chain, so that
   * everybody can see which parts were the person's.
   */
  get owner(): Buffer {
    return (this.#owner ??= this.key.of('plinth.audit.owner.v2\0', this.#ref));
  }

  /** Hides the references of resources in commitments. It is destroyed with the key. */
  get resources(): Buffer {
    return (this.#resources ??= this.key.of('plinth.audit.resources.v2\0'));
  }
}
