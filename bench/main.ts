// `npm run bench [NAME…]`: the numbers of product.md §4 that exist so far. Bounded; all traffic on loopback.
import { authenticated } from "./authenticated.ts";
import { container } from "./container.ts";
import { gateways } from "./gateways.ts";
import { memory } from "./memory.ts";
import { otherSupervisors } from "./other-supervisors.ts";
import { search } from "./search.ts";
import { spaSize } from "./spa-size.ts";
import { startup } from "./startup.ts";
import { statusUnderLoad } from "./status-under-load.ts";
import { webFeel } from "./web-feel.ts";

const BENCHES: Readonly<Record<string, () => Promise<void>>> = {
  startup,
  memory,
  authenticated,
  status: statusUnderLoad,
  search,
  spa: spaSize,
  feel: webFeel,
  container,
  gateways,
  others: otherSupervisors,
};

const wanted = process.argv.slice(2);
for (const [name, bench] of Object.entries(BENCHES)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  console.log(`\n# ${name}`);
  await bench();
}
