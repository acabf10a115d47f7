import { createPlinth, memoryStorage, type Replica } from '@plinth/sdk';

const baseUrl = process.env.PLINTH_URL ?? 'http://127.0.0.1:4000';
// Each run uses its own tenant, whose data set is empty.
const headers = { 'X-Tenant-ID': `first-replica-${Date.now()}` };
const { sync } = createPlinth({ baseUrl, token: process.env.PLINTH_ROOT_TOKEN ?? '', headers });

// A device would keep its replica: in a browser with indexedDbStorage, in Node with fileStorage.
const phone = await sync.replica({ tables: ['todos'], storage: memoryStorage() });
const laptop = await sync.replica({ tables: ['todos'], storage: memoryStorage() });
const stock = (replica: Replica) => replica.table('todos').get('milk');

// Neither has a connection yet. Both can write, and nothing waits for the server.
await phone.table('todos').set('milk', { title: 'Milk', shop: 'Corner' });
await phone.table('todos').increment('milk', 'bottles', 2);
await laptop.table('todos').set('milk', { done: true });
await laptop.table('todos').increment('milk', 'bottles', 1);
console.log('phone ', await stock(phone));
console.log('laptop', await stock(laptop));

// Connected, they push, pull and then hear of each other's edits as they are made.
phone.start();
laptop.start();
for (const replica of [phone, laptop])
  await new Promise<void>((resolve) => {
    const look = async () => (await stock(replica))?.bottles === 3 && resolve();
    replica.table('todos').subscribe(() => void look());
    void look();
  });
console.log('phone ', await stock(phone));
console.log('laptop', await stock(laptop));
await Promise.all([phone.stop(), laptop.stop()]);
