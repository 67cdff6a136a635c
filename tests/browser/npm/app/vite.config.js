import { langfx } from "langfx-web/vite";

export default { plugins: [langfx()] };
