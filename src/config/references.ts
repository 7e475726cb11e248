// `${NAME}` and `${env:NAME}` inside values (agent.md §2.3).

const REFERENCE = /\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)\}/g;

export interface Resolver {
  /** The text with every set reference replaced; an unset one stays as it is. */
  text(written: string): string;
  /** Names that were asked for and are not set, sorted. */
  unset(): string[];
}

export function openResolver(get: (name: string) => string | undefined): Resolver {
  const missing = new Set<string>();
  return {
    text: (written) =>
      written.replace(REFERENCE, (whole, name: string) => {
        const value = get(name);
        if (value === undefined) missing.add(name);
        return value ?? whole;
      }),
    unset: () => [...missing].sort(),
  };
}
