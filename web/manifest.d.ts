/** Written by the build beside these modules: what the runtime folder holds. */
export const manifest: import("../worker/protocol.js").Manifest;
