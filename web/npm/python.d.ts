/** With Vite's plugin, an imported Python file gives its URL. */
declare module "*.py" {
  const url: string;
  export default url;
}
