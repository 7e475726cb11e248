// One suite for what supervises services: the fake, and real s6 with the scripts of the image.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { FakeLock } from "../kit/fake-lock.ts";
import { MemoryManager } from "../kit/memory-manager.ts";
import { noS6 } from "../kit/s6-gateways.ts";
import { openS6Ring } from "../kit/s6-ring.ts";
import { tempDir } from "../kit/temp-dir.ts";
import { type Play, serviceManagerContract } from "./service-manager.ts";

serviceManagerContract({
  name: "in memory",
  skip: false,
  isReal: false,
  open: async (t) => {
    const root = join(tempDir(t), "home");
    mkdirSync(root);
    const manager = new MemoryManager({ root, lock: new FakeLock() });
    return { root, manager, play: (slot, how) => manager.behave(slot, how) };
  },
});

serviceManagerContract({
  name: "s6",
  skip: noS6 ?? false,
  isReal: true,
  open: async (t) => {
    const ring = await openS6Ring(t);
    const text = (how: Play): string => (typeof how === "number" ? `exit ${how}` : how);
    return { ...ring, play: (slot, how) => ring.play(slot, text(how)) };
  },
});
