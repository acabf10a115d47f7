import type { Deps } from '../deps.ts';
import type { Provider } from '../providers/provider.ts';
import type { Write } from '../writes.ts';
import type { Later } from './later.ts';
import type { PaymentRow } from './payment.ts';

/** What payments need besides the rest of the service. */
export interface PaymentDeps extends Deps {
  /** Undefined where no provider charges. */
  readonly provider: Provider | undefined;
  readonly later: Later;
  /** Called in the transaction in which the failure of a payment becomes known, whenever that is. The invoice is locked. */
  readonly onFailed: (tx: Write, payment: PaymentRow, at: number) => Promise<void>;
}
