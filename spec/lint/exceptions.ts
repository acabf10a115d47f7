/** Findings of Redocly that are accepted, by document. */
interface Exception {
  readonly rule: string;
  readonly pointer: string;
}

const ambiguous = (path: string): Exception => ({
  rule: 'no-ambiguous-paths',
  pointer: `#/paths/${path.replaceAll('/', '~1')}`,
});

/**
 * Paths that could be read as another one: `/customers/email/export` as a customer named `email`, or as the customer with the
 * address `export`. The documents define these paths. A static segment takes precedence over a parameter, and no id or address
 * has such a form. The messages of the gateway's feed belong to a WebSocket and are referenced from an extension, which Redocly
 * does not read.
 */
export const exceptions: Readonly<Record<string, readonly Exception[]>> = {
  Audit: [ambiguous('/v1/events/{id}/record')],
  Billing: [
    ambiguous('/billing/customers/{id}/credit'),
    ambiguous('/billing/customers/{id}/export'),
    ambiguous('/billing/customers/{id}/invoices'),
    ambiguous('/billing/customers/{id}/subscriptions'),
    ambiguous('/billing/customers/{id}/usage'),
  ],
  Gateway: [
    { rule: 'no-unused-components', pointer: '#/components/schemas/RoutesMessage' },
    { rule: 'no-unused-components', pointer: '#/components/schemas/StatsMessage' },
  ],
};
