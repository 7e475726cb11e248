// Placeholder of the typed tree until the config room lands.
export type Config = Readonly<Record<string, unknown>>;
