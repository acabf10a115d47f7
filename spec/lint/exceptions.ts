/** Findings of Redocly that are accepted, by document. */
interface Exception {
  readonly rule: string;
  readonly pointer: string;
}

const unused = (schema: string): Exception => ({
  rule: 'no-unused-components',
  pointer: `#/components/schemas/${schema}`,
});

const ambiguous = (path: string): Exception => ({
  rule: 'no-ambiguous-paths',
  pointer: `#/paths/${path.replaceAll('/', '~1')}`,
});

/**
 * Paths that could be read as another one: `/customers/email/export` as a customer named `email`, or as the customer with the
 * address `export`. The documents define these paths. A static segment takes precedence over a parameter, and no id or address
 * has such a form. The messages of the gateway's feed belong to a WebSocket, and the lines of exports to a stream of JSON. Both are
 * referenced from extensions, which Redocly does not read.
 */
export const exceptions: Readonly<Record<string, readonly Exception[]>> = {
  Audit: [ambiguous('/v1/events/{id}/record'), unused('StreamLine')],
  Billing: [
    ambiguous('/billing/customers/{id}/credit'),
    ambiguous('/billing/customers/{id}/export'),
    ambiguous('/billing/customers/{id}/invoices'),
    ambiguous('/billing/customers/{id}/subscriptions'),
    ambiguous('/billing/customers/{id}/usage'),
    unused('CustomerExportLine'),
  ],
  Gateway: [unused('RoutesMessage'), unused('StatsMessage')],
};
