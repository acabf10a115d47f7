import type { Leeway, Operation as Documented, Parameter } from '../../generated/operations.ts';

/** What the runtime reads of an operation of the contract. It takes services of any name, also those that tests make up. */
export type Operation = Omit<Documented, 'service'> & { readonly service: string };

export type { Parameter };
export type Body = NonNullable<Documented['body']>;
export type { Leeway };
export type Response = Documented['responses'][number];

/** An Ajv standalone function: coerces parameters, fills in defaults and leaves what it found wrong in `errors`. */
export interface Validate {
  (data: unknown): boolean;
  errors?: readonly ValidationError[] | null;
}

export interface ValidationError {
  readonly keyword: string;
  readonly instancePath: string;
  readonly schemaPath: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly message?: string;
}

/** The validators of one operation. */
export interface Validators {
  readonly path?: Validate;
  readonly query?: Validate;
  readonly header?: Validate;
  readonly body?: Validate;
}
