/** The error envelope of a service as a type of the client. The documents have one schema per failure instead. */
import { resolve, type Schema, type ServiceContract } from './contract.ts';
import { shape } from './sdk-operations.ts';

/** Adds the schema `Error` to a service: the most common form of its failures. */
export function withEnvelope(service: ServiceContract): ServiceContract {
  const shapes = failureSchemas(service).map((schema) => ({ schema, text: shape(service, schema) }));
  const counts = Map.groupBy(shapes, ({ text }) => text);
  const [most] = [...counts.values()].sort((one, other) => other.length - one.length);
  if (!most?.[0]) return service;
  const { examples: _, ...envelope } = resolve(service.schemas, most[0].schema);
  const Error = { ...envelope, description: 'The error envelope of the service.' };
  return { ...service, schemas: { ...service.schemas, Error } };
}

const failureSchemas = ({ operations }: ServiceContract): Schema[] =>
  operations
    .flatMap(({ responses }) => responses)
    .flatMap(({ status, content }) => (status >= 400 ? content.map(({ schema }) => schema) : []));
