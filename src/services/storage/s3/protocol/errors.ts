/** The error codes of S3 that the façade answers with, each with its status and the message unless another says more. */
const codes = {
  AccessDenied: [403, 'Access Denied'],
  AuthorizationHeaderMalformed: [400, 'The authorization header is malformed'],
  AuthorizationQueryParametersError: [400, 'The query parameters of the signature are malformed'],
  BadDigest: [400, 'The content does not match the checksum of the request'],
  BucketAlreadyExists: [409, 'The bucket already exists'],
  BucketAlreadyOwnedByYou: [409, 'You already own a bucket of this name'],
  BucketNotEmpty: [409, 'The bucket is not empty'],
  EntityTooLarge: [400, 'The object is larger than allowed'],
  EntityTooSmall: [400, 'A part other than the last is smaller than allowed'],
  IncompleteBody: [400, 'The body is shorter than announced'],
  InternalError: [500, 'An internal error occurred'],
  InvalidAccessKeyId: [403, 'The access key id does not exist'],
  InvalidArgument: [400, 'An argument is not valid'],
  InvalidBucketName: [400, 'The name of the bucket is not valid'],
  InvalidDigest: [400, 'The Content-MD5 is not valid'],
  InvalidPart: [400, 'A part was not uploaded, or has another entity tag'],
  InvalidPartOrder: [400, 'The parts are not in ascending order'],
  InvalidRange: [416, 'The range is not satisfiable'],
  InvalidRequest: [400, 'The request is not valid'],
  InvalidURI: [400, 'The path cannot be decoded'],
  KeyTooLongError: [400, 'The key is too long'],
  MalformedXML: [400, 'The XML of the body is not well-formed or not what the operation expects'],
  MetadataTooLarge: [400, 'The metadata is larger than allowed'],
  MethodNotAllowed: [405, 'The method is not allowed for this resource'],
  MissingContentLength: [411, 'The length of the content must be given'],
  MissingSecurityHeader: [400, 'A header that the signature needs is missing'],
  NoSuchBucket: [404, 'The bucket does not exist'],
  NoSuchBucketPolicy: [404, 'The bucket has no policy'],
  NoSuchCORSConfiguration: [404, 'The bucket has no CORS configuration'],
  NoSuchKey: [404, 'The object does not exist'],
  NoSuchLifecycleConfiguration: [404, 'The bucket has no lifecycle configuration'],
  NoSuchTagSet: [404, 'The bucket has no tags'],
  NoSuchUpload: [404, 'The upload does not exist, or has ended'],
  NotImplemented: [501, 'This server does not implement what the request asks for'],
  ObjectLockConfigurationNotFoundError: [404, 'The bucket has no object lock configuration'],
  PreconditionFailed: [412, 'A condition of the request does not hold'],
  QuotaExceeded: [403, 'The quota is exceeded'],
  RequestTimeTooSkewed: [403, 'The time of the request differs too much from the time of the server'],
  RequestTimeout: [400, 'The body did not arrive in time'],
  ServerSideEncryptionConfigurationNotFoundError: [404, 'The bucket has no encryption configuration'],
  ServiceUnavailable: [503, 'The service is unavailable, try again'],
  SignatureDoesNotMatch: [403, 'The signature does not match the request'],
  SlowDown: [503, 'Too many requests at once, try again'],
  TooManyBuckets: [400, 'The maximum number of buckets is reached'],
  UnsupportedMediaType: [415, 'The bucket does not allow this content type'],
  XAmzContentSHA256Mismatch: [400, 'The content does not match x-amz-content-sha256'],
} as const satisfies Record<string, readonly [number, string]>;

export type S3Code = keyof typeof codes;

export interface S3ErrorOptions {
  /** For the log only. */
  readonly cause?: unknown;
  /** Seconds after which the request may succeed. */
  readonly retryAfter?: number | undefined;
  /** The size of the content, of which a range was requested. */
  readonly size?: number | undefined;
  /** Further elements of the error, such as the name of the argument. */
  readonly elements?: Readonly<Record<string, string>>;
}

/** An error that the façade answers with, in S3's XML. */
export class S3Error extends Error {
  override readonly name = 'S3Error';
  readonly code: S3Code;
  readonly status: number;
  readonly retryAfter: number | undefined;
  readonly size: number | undefined;
  readonly elements: Readonly<Record<string, string>>;

  constructor(code: S3Code, message?: string, options: S3ErrorOptions = {}) {
    const [status, usual] = codes[code];
    super(message ?? usual, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.status = status;
    this.retryAfter = options.retryAfter;
    this.size = options.size;
    this.elements = options.elements ?? {};
  }
}

export const s3Error = (code: S3Code, message?: string, options?: S3ErrorOptions) =>
  new S3Error(code, message, options);
