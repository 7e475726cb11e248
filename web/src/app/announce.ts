// Two live regions for screen readers: polite for what is finished, assertive for what needs an answer.

type Manner = "polite" | "assertive";

const regions = new Map<Manner, HTMLElement>();

export function addLiveRegions(): void {
  for (const manner of ["polite", "assertive"] as const) {
    const region = document.createElement("div");
    region.setAttribute("aria-live", manner);
    region.setAttribute("role", manner === "polite" ? "status" : "alert");
    region.className = "sr-only";
    region.dataset["testid"] = `live-${manner}`;
    document.body.append(region);
    regions.set(manner, region);
  }
}

export function announce(text: string, manner: Manner = "polite"): void {
  const region = regions.get(manner);
  if (!region) return;
  // The same sentence twice must be spoken twice: a new node is a change, an equal text is none.
  const line = document.createElement("p");
  line.textContent = text;
  region.replaceChildren(line);
}
