/** A Vite plugin that serves and copies what langfx_web needs beside the bundled page. */
export function langfx(): { name: string };
