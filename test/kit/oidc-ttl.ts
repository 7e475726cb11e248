// Lifetimes of a test issuer's things, in seconds.

export const ACCESS_SECONDS = 300;

export const ttl = {
  AccessToken: ACCESS_SECONDS,
  AuthorizationCode: 60,
  IdToken: 600,
  RefreshToken: 8 * 3600,
  Interaction: 600,
  Session: 86_400,
  Grant: 86_400,
} as const;
