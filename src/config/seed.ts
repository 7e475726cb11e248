// What a new `config.yaml` says. No import: a home is made before anything is read.

/** Versions below 100 belong to the Python version. */
export const CONFIG_VERSION = 100;

export const NEW_CONFIG_TEXT = `# Settings of Hermes. Every key: docs/reference/config.md, or "hermes config show".
_config_version: ${CONFIG_VERSION}
`;
