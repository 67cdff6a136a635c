// The parts of Pyodide that the worker uses. The files themselves are in the bundle only.

interface PyodideOptions {
  indexURL: string;
  packageBaseUrl: string;
  stdLibURL: string;
  lockFileContents: Promise<string>;
  env: Record<string, string>;
  fsInit(fs: { writeFile(path: string, bytes: Uint8Array): void }, info: { sitePackages: string }): Promise<void>;
  stdout?(text: string): void;
  stderr?(text: string): void;
  createPyodideModule?: CreatePyodideModule;
  /** Private to Pyodide: the memory may be stored. */
  _makeSnapshot?: boolean;
  /** Private to Pyodide: the memory to begin with. */
  _loadSnapshot?: Uint8Array;
}

interface PyodideAPI {
  pyimport(name: string): any;
  runPython(code: string): any;
  /** Private to Pyodide. */
  makeMemorySnapshot(): Uint8Array;
  FS: { mkdirTree(path: string): void; writeFile(path: string, bytes: Uint8Array): void };
  /** Private to Pyodide: `on_fatal` is called once the interpreter is beyond use. */
  _api: {
    on_fatal?: (error: unknown) => void;
    /** Unpacks a wheel and loads the libraries in it, as `loadPackage` and micropip do. */
    install(bytes: Uint8Array, file: string, folder: string, metadata: Map<string, string>): Promise<void>;
    /** A module of Python. */
    package_loader: { get_install_dir(place: string): string };
  };
}

type CreatePyodideModule = (settings: object) => Promise<{ HEAP8: Int8Array; _malloc(size: number): number }>;
type LoadPyodide = (options: PyodideOptions) => Promise<PyodideAPI>;

declare module "*/pyodide.mjs" {
  export const loadPyodide: LoadPyodide;
}

declare module "*/pyodide.asm.mjs" {
  const createPyodideModule: CreatePyodideModule;
  export default createPyodideModule;
}
