"""Open every page of the documentation and three reports in Chromium, at 1400 and 400 pixels.

    python tests/pages.py build/docs             exit code 1 names what is wrong (make test-pages)
    python tests/pages.py build/docs --only tour # pages whose path contains this

A page fails if it is wider than the window, if a script fails or writes an error to the console, or
if a picture does not load. Chromium opens one page of this program, which shows the others in a
frame of the wanted width, so one start of the browser serves all of them. Needs Chromium.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

WIDTHS = (1400, 400)
SECONDS = 900.0  # for all pages together
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")

# Put first into every page: errors are kept from the beginning on.
LISTEN = b"""<script>
window.found = [];
const written = console.error;
console.error = (...words) => {
  window.found.push("console: " + words.join(" "));
  written(...words);
};
addEventListener("error", event => window.found.push(
  event.message ? "script: " + event.message
    : "not loaded: " + (event.target.src || event.target.href)), true);
addEventListener("unhandledrejection", event => window.found.push("promise: " + event.reason));
</script>"""

VISIT = """<!doctype html><title>visit</title><body style="margin:0"><script>
const pages = %s, widths = %s;
const wait = milliseconds => new Promise(done => setTimeout(done, milliseconds));
async function visit(page, width) {
  const frame = document.createElement("iframe");
  frame.style = "border:0;height:900px;width:" + width + "px";
  const loaded = new Promise(done => { frame.onload = done; });
  frame.src = page;
  document.body.append(frame);
  await Promise.race([loaded, wait(20000)]);
  const inner = frame.contentDocument, root = inner.documentElement;
  const pictures = [...inner.images];
  for (const one of pictures) one.loading = "eager";
  await Promise.race([Promise.allSettled(pictures.map(one => one.decode())), wait(5000)]);
  const found = [...frame.contentWindow.found];
  for (const one of pictures)
    if (!one.naturalWidth) found.push("picture: " + one.src);
  if (root.scrollWidth > root.clientWidth) {
    const wide = [...inner.body.querySelectorAll("*")].filter(
      one => one.getBoundingClientRect().right > root.clientWidth + 1);
    const names = wide.slice(0, 4).map(one => one.tagName.toLowerCase() + "." + one.className);
    const sizes = root.scrollWidth + " of " + root.clientWidth;
    found.push("too wide: " + sizes + ", " + names.join(" "));
  }
  frame.remove();
  return found;
}
(async () => {
  for (const width of widths)
    for (const page of pages) {
      let found;
      try { found = await visit(page, width); } catch (error) { found = ["visit: " + error]; }
      const body = JSON.stringify({page, width, found});
      await fetch("/found", {method: "POST", body});
    }
  await fetch("/done", {method: "POST", body: "{}"});
})();
</script>"""


class Handler(SimpleHTTPRequestHandler):
    """Serves the folder, with `LISTEN` in every page, and collects what the browser found."""

    def __init__(self, state: dict[str, Any], *given: Any, **named: Any) -> None:
        self.state = state
        super().__init__(*given, **named)

    def do_GET(self) -> None:
        if self.path == "/visit":
            return self._send(self.state["visit"].encode())
        path = Path(self.translate_path(self.path))
        if path.suffix == ".html" and path.is_file():
            head, mark, rest = path.read_bytes().partition(b"<head>")
            return self._send(head + mark + LISTEN + rest)
        if self.path == "/favicon.ico":
            return self._send(b"")
        super().do_GET()

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/done":
            self.state["done"].set()
        else:
            self.state["found"].append(body)
        self._send(b"{}")

    def _send(self, content: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        """Say nothing about single requests."""


def write_reports(folder: Path) -> None:
    """Write the reports of quantiles that do not cross, of a classifier and of several tasks."""
    import numpy as np

    import rectiline as rl

    income, food = rl.datasets.load_engel(return_X_y=True)
    levels = [0.1, 0.5, 0.9]
    quantiles = rl.QuantileRegressor(quantile=levels, alpha=0, non_crossing=True).fit(income, food)
    people = rl.datasets.load_adult_sample()
    svm = rl.PLQClassifier("hinge").fit(people.data, people.target)
    both = np.column_stack([people.target, people.male])
    tasks = rl.MultiTaskClassifier().fit(people.data, both)
    folder.mkdir(exist_ok=True)
    for name, model, X, y in (
        ("quantiles", quantiles, income, food),
        ("classifier", svm, people.data, people.target),
        ("tasks", tasks, people.data, both),
    ):
        model.report(folder / f"{name}.html", X, y)


def visit(folder: Path, pages: list[str]) -> list[dict[str, Any]]:
    """Return what the browser found on each page at each width."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        raise SystemExit("Chromium is not installed")
    state: dict[str, Any] = {"found": [], "done": threading.Event()}
    state["visit"] = VISIT % (json.dumps(pages), json.dumps(WIDTHS))
    handler = partial(Handler, state, directory=str(folder))
    with (
        ThreadingHTTPServer(("127.0.0.1", 0), handler) as server,
        tempfile.TemporaryDirectory() as own,
    ):
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/visit"
        flags = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={own}"]
        flags += ["--remote-debugging-port=0", "--window-size=1500,1000", address]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        process = subprocess.Popen([browser, *flags], **quiet)
        try:
            finished = state["done"].wait(SECONDS)
        finally:
            process.kill()
            process.wait()
            server.shutdown()
    if not finished:
        raise SystemExit(f"the browser showed {len(state['found'])} pages in {SECONDS:g} s")
    return state["found"]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="", help="pages whose path contains this")
    given = parser.parse_args()
    write_reports(given.folder / "reports")
    every = (path.relative_to(given.folder).as_posix() for path in given.folder.rglob("*.html"))
    pages = sorted(page for page in every if given.only in page)
    wrong = 0
    found = visit(given.folder, pages)
    for one in found:
        for what in one["found"]:
            wrong += 1
            print(f"{one['page']} at {one['width']} px: {what}")
    print(f"{len(found)} views of {len(pages)} pages, {wrong} faults")
    return int(wrong > 0 or not pages)


if __name__ == "__main__":
    sys.exit(main())
