import type {
  Leeway,
  Moments,
  Operation as Documented,
  Parameter,
  Places,
} from '../../generated/operations.ts';

/** An operation of the contract, as the runtime reads it. The service may have any name, so that tests can make up services. */
export type Operation = Omit<Documented, 'service'> & { readonly service: string };

export type { Parameter };
export type Body = NonNullable<Documented['body']>;
export type { Leeway, Moments, Places };
export type Response = Documented['responses'][number];
export type PrefixedHeaders = NonNullable<Documented['prefixedHeaders']>;

/** An Ajv standalone function: coerces parameters, fills in defaults and stores the problems in `errors`. */
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
