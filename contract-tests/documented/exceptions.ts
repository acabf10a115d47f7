/** Intended differences between the contract and the documents. An unused exception fails the test. */

export interface RenamedPath {
  readonly service: string;
  /** The path in the document, followed by the path in the contract. */
  readonly path: string;
  readonly contract: string;
  readonly reason: string;
}

/** A member that the document requires, and that the contract lets be replaced by another one. */
export interface Alternative {
  readonly service: string;
  readonly member: string;
  readonly instead: string;
  readonly reason: string;
}

export const alternatives: readonly Alternative[] = [
  {
    service: 'safety',
    member: 'text',
    instead: 'messages',
    reason:
      'A conversation can be sent as its messages; a request with neither is refused for the missing text.',
  },
];

const oneParameter =
  'OpenAPI takes paths that differ only in the name of a parameter for the same one, so that one parameter takes either.';

const invoiceActions = ['finalize', 'void', 'pay', 'pdf'].map((action) => ({
  service: 'billing',
  path: `/billing/invoices/{id}/${action}`,
  contract: `/billing/invoices/{invoice}/${action}`,
  reason: 'The actions take the same parameter as the invoice itself.',
}));

export const renamedPaths: readonly RenamedPath[] = [
  {
    service: 'billing',
    path: '/billing/plans/{name}',
    contract: '/billing/plans/{plan}',
    reason: oneParameter,
  },
  {
    service: 'billing',
    path: '/billing/plans/{id}',
    contract: '/billing/plans/{plan}',
    reason: oneParameter,
  },
  {
    service: 'billing',
    path: '/billing/invoices/{id}',
    contract: '/billing/invoices/{invoice}',
    reason: oneParameter,
  },
  {
    service: 'billing',
    path: '/billing/invoices/{number}',
    contract: '/billing/invoices/{invoice}',
    reason: oneParameter,
  },
  ...invoiceActions,
];
