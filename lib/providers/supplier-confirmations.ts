/** The e-mail that confirms an order, sent by a supplier of each kind: `POST /confirmations`. */
import * as z from 'zod';
import { defineProvider, type Provider } from './provider.ts';
import { providerOf, shownNames } from './supplier-call.ts';
import type { Shelf } from './supplier-look.ts';
import { purchaseOrder } from './supplier-order-payload.ts';
import type { SupplierKind } from './supplier-promises.ts';

const messageId = z.string().regex(/^M-\d{1,40}$/);

const payload = z.strictObject({
  purchase_order: purchaseOrder,
  to: z.email().max(254),
  language: z.enum(['en', 'ja']),
});

const made = z
  .object({
    account: z.string(),
    environment: z.string(),
    message_id: messageId,
    status: z.literal('sent'),
  })
  .transform((answer) => answer.message_id);

export function supplierConfirmations(supplier: SupplierKind): Provider {
  const shown = { to: 'to', language: 'language' };
  return defineProvider(
    providerOf({
      ...shelfOf(supplier),
      supplier,
      name: `supplier-${supplier}-confirmation`,
      effect: 'confirmation',
      payload,
      shows: supplier === 'blind' ? shown : { purchaseOrder: 'purchase_order', ...shown },
      made,
      standing: 'sent',
      refusals: [],
      readback: ['message_id', 'status', 'to', 'language'],
      cancelUntil: null,
    }),
  );
}

/** A bounced e-mail was sent: it is found, and its status does not hold. */
function shelfOf(supplier: SupplierKind): Shelf {
  const record = z
    .object({
      ...shownNames(supplier),
      message_id: messageId,
      to: z.string(),
      language: z.string(),
      status: z.enum(['sent', 'bounced']),
    })
    .transform((each) => ({
      externalId: each.message_id,
      reference: each.reference ?? null,
      status: each.status,
      cancelUntil: null,
      content: { purchase_order: each.purchase_order ?? null, to: each.to, language: each.language },
    }));
  return { path: '/confirmations', one: 'confirmation', many: 'confirmations', record };
}
