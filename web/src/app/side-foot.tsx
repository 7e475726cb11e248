// Foot of the navigation, a chunk of its own: menus and tooltips are not needed for the first paint.
import { Account } from "./account.tsx";
import { Preferences } from "./preferences.tsx";
import { ServiceStrip } from "./service-strip.tsx";

export default function SideFoot() {
  return (
    <>
      <ServiceStrip />
      <Account />
      <Preferences />
    </>
  );
}
