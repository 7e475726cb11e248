// The only import of the native package: it is optional, so this file is loaded where its absence can be told.
export { spawn, type IPty } from "@lydell/node-pty";
