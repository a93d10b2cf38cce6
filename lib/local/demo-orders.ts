/**
 * The purchase-order chapter of the demo: orders that people approve, at suppliers of four kinds, each meeting a
 * fault. One stack is killed in the middle of a POST and started again; then all scenarios play side by side.
 */
import { orUnexpected, type Played, report, sideBySide, title } from './demo-chapter.ts';
import type { Stated } from './demo-ending.ts';
import type { Place, Scene } from './demo-orders-draft.ts';
import { judge, type Work } from './demo-orders-judge.ts';
import { hangs } from './demo-orders-plays.ts';
import { scenarios } from './demo-orders-scenarios.ts';
import { type Books, booksIn } from './demo-orders-supplier.ts';
import { startService } from './service.ts';
import { placesIn } from './stack.ts';

const DATA_DIR = '.kakutei/demo-orders';

type PlayedOrders = readonly Played<Place, Work, Stated>[];

/** True when every scenario ended as it must. */
export async function ordersChapter(json: boolean): Promise<boolean> {
  title('Purchase orders: a new ledger and four new suppliers');
  const { folder, played } = await playAll();
  const books = booksIn(folder);
  const endings = played.map(({ scenario, works, unmet, seconds }) =>
    judge(scenario, works, books, seconds, unmet),
  );
  return report(endings, strangers(played, books), json);
}

async function playAll(): Promise<{ folder: string; played: PlayedOrders }> {
  const folder = placesIn(DATA_DIR).suppliers;
  const first = await startService({ dataDir: DATA_DIR, anew: ['ledger', 'suppliers'] });
  const scene: Scene = { service: first, folder, check: () => undefined, say: () => undefined };
  const hanging = await hangs(scene).catch(orUnexpected);
  await first.kill();
  process.stderr.write('  killed while an order was out; starting again\n');
  const service = await startService({ dataDir: DATA_DIR });
  try {
    return { folder, played: await sideBySide(service, { folder }, scenarios(hanging)) };
  } finally {
    await service.stop();
  }
}

/** POSTs in the books that belong to no scenario. */
function strangers(played: PlayedOrders, books: Books): string[] {
  const ours = new Set(played.flatMap(({ works }) => works.map(nameOf)));
  const posts = books.flatMap((book) => book.posts);
  return posts
    .filter((post) => !ours.has(nameOf({ call: post.kind, purchaseOrder: post.purchase_order })))
    .map((post) => `a POST for ${post.purchase_order} that belongs to nothing here`);
}

function nameOf({ call, purchaseOrder }: { readonly call: string; readonly purchaseOrder: string }): string {
  return `${call} ${purchaseOrder}`;
}
