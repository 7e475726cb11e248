// Foot of the navigation, a chunk of its own: menus and tooltips are not needed for the first paint.
import { Preferences } from "./preferences.tsx";
import { ServiceStrip } from "./service-strip.tsx";

export default function SideFoot() {
  return (
    <>
      <ServiceStrip />
      <Preferences />
    </>
  );
}
