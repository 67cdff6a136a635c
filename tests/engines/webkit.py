"""WebKit as WebKitGTK has it: its MiniBrowser on a virtual display, driven by Selenium."""

import os
import subprocess
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from selenium.common.exceptions import JavascriptException
from selenium.webdriver import WebKitGTK
from selenium.webdriver.webkitgtk.options import Options
from selenium.webdriver.webkitgtk.service import Service

from tests.engines.engine import Engine, EngineError, Page

SECONDS = 120
# The driver has no view of the console, so the page keeps what it would show of the page's own.
LISTEN = """(() => {
  const complaints = (globalThis.complaints = []);
  for (const level of ["error", "warn", "assert"]) {
    const said = console[level];
    console[level] = (...parts) => (complaints.push(`${level}: ${parts.join(" ")}`), said.apply(console, parts));
  }
  addEventListener("error", ({ message }) => complaints.push(`uncaught: ${message}`));
  addEventListener("unhandledrejection", ({ reason }) => complaints.push(`uncaught: ${reason}`));
  addEventListener("securitypolicyviolation", ({ violatedDirective }) => complaints.push(`CSP: ${violatedDirective}`));
  return Promise.resolve("");
})()"""


class WebKit(Engine):
    """`path` is that of WebKit's driver, `xvfb` of the program that makes the display."""

    def __init__(self, path: str, *, xvfb: str) -> None:
        self._running = ExitStack()
        with ExitStack() as stack:
            environment = {
                **os.environ,
                "DISPLAY": stack.enter_context(_display(xvfb)),
                "WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS": "1",
            }
            self._driver = _start(Service(executable_path=path, env=environment))
            stack.callback(self._driver.quit)
            self._running = stack.pop_all()

    def open(self) -> Page:
        # A tab would lie behind another one, and hidden pages draw nothing and make no snapshot.
        self._driver.switch_to.new_window("window")
        return _Tab(self._driver)

    def close(self) -> None:
        self._running.close()


@contextmanager
def _display(xvfb: str) -> Iterator[str]:
    """A virtual display with a free number, which is its name."""
    command = [xvfb, "-displayfd", "1", "-screen", "0", "1600x1600x24", "-nolisten", "tcp"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        yield f":{process.stdout.readline().strip()}"
        process.terminate()


def _start(service: Service) -> WebKitGTK:
    options = Options()
    options.binary_location = str(next(Path("/usr/lib").glob("**/webkit2gtk-4.*/MiniBrowser")))
    options.add_argument("--automation")
    with warnings.catch_warnings():
        # This class of Selenium's uses what the rest of Selenium calls outdated.
        warnings.simplefilter("ignore", DeprecationWarning)
        driver = WebKitGTK(options=options, service=service)
    driver.set_script_timeout(SECONDS)
    driver.set_page_load_timeout(SECONDS)
    return driver


class _Tab(Page):
    def __init__(self, driver: WebKitGTK) -> None:
        self._driver = driver
        self._window = driver.current_window_handle

    @property
    def complaints(self) -> list[str]:
        complaints: list[str] = self.evaluate("() => complaints")
        return complaints

    def goto(self, url: str) -> None:
        self._driver.switch_to.window(self._window)
        self._driver.get(url)
        self.run(LISTEN)

    def run(self, expression: str) -> str:
        self._driver.switch_to.window(self._window)
        ends = "((text) => done([text]), (error) => done([null, String(error)]))"
        try:
            text, *failure = self._driver.execute_async_script(f"const done = arguments[0]; {expression}.then{ends}")
        except JavascriptException as error:
            raise EngineError(error.msg) from error
        if failure:
            raise EngineError(failure[0])
        return str(text)

    def screenshot(self, path: Path, *, width: int, height: int) -> None:
        self._driver.switch_to.window(self._window)
        size = "() => [outerWidth - innerWidth, outerHeight - innerHeight]"
        frame_width, frame_height = self.evaluate(size)
        self._driver.set_window_size(width + frame_width, height + frame_height)
        self._driver.save_screenshot(str(path))

    def close(self) -> None:
        self._driver.switch_to.window(self._window)
        self._driver.close()
        self._driver.switch_to.window(self._driver.window_handles[0])
