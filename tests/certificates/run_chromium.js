"use strict";
// Choose files in the page, in a headless Chromium, and print its verdicts; input as `run_checker.js`.
// Arguments: the browser and the page. It speaks the DevTools protocol through a pipe.
const { spawn } = require("child_process");
const fs = require("fs");
const os = require("os");
const path = require("path");

const [browser, page] = process.argv.slice(2);
const profile = fs.mkdtempSync(path.join(os.tmpdir(), "checker-"));
const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync",
  "--disable-background-networking", "--disable-component-update", "--remote-debugging-pipe", `--user-data-dir=${profile}`];
const child = spawn(browser, flags, { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
const waiting = new Map();
let [count, rest] = [0, ""];
child.stdio[4].on("data", (chunk) => {
  const parts = (rest + chunk).split("\0");
  rest = parts.pop();
  for (const message of parts.map((part) => JSON.parse(part))) {
    if (waiting.has(message.id)) waiting.get(message.id)(message);
    waiting.delete(message.id);
  }
});
function send(method, params = {}, sessionId = undefined) {
  count += 1;
  child.stdio[3].write(JSON.stringify({ id: count, method, params, sessionId }) + "\0");
  return new Promise((done, failed) => {
    waiting.set(count, ({ result, error }) => (error ? failed(new Error(`${method}: ${error.message}`)) : done(result)));
  });
}

async function main() {
  const { targetId } = await send("Target.createTarget", { url: "about:blank" });
  const { sessionId } = await send("Target.attachToTarget", { targetId, flatten: true });
  const call = (method, params) => send(method, params, sessionId);
  const ask = async (expression) => (await call("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true })).result.value;
  await call("Page.enable");
  for (const line of fs.readFileSync(0, "utf-8").split("\n").filter(Boolean)) {
    const [certificate, data, options] = JSON.parse(line);
    await call("Page.navigate", { url: `file://${page}` });
    while (!(await ask("document.readyState === 'complete' && location.protocol === 'file:'")));
    const { root } = await call("DOM.getDocument");
    const choose = async (part, file) => {
      const { nodeId } = await call("DOM.querySelector", { nodeId: root.nodeId, selector: `[data-part=${part}]` });
      if (part === "embedded" || !file || !nodeId) return;
      await call("DOM.setFileInputFiles", { nodeId, files: [file] });
    };
    const { drop, ...fields } = options; // with `drop`, files are dropped on the page instead
    for (const [part, value] of Object.entries(fields)) await ask(`document.querySelector("[data-part=${part}]").value = ${JSON.stringify(value)}`);
    if (drop) {
      const held = [certificate, data].map((file) => [path.basename(file), fs.readFileSync(file).toString("base64")]);
      await ask(`{
        const dataTransfer = new DataTransfer();
        for (const [name, content] of ${JSON.stringify(held)}) {
          dataTransfer.items.add(new File([Uint8Array.from(atob(content), (one) => one.charCodeAt(0))], name));
        }
        const root = document.querySelector("[data-rectiline-checker]");
        for (const kind of ["dragover", "drop"]) root.dispatchEvent(new DragEvent(kind, { dataTransfer, bubbles: true, cancelable: true }));
        undefined;
      }`);
    } else {
      await choose("certificate", certificate);
      await choose("data", data);
    }
    const found = await ask(`new Promise((done) => {
      const said = document.querySelector("[data-part=verdict]");
      const look = () => (said.dataset.verdict ? done({ verdict: said.dataset.verdict, text: said.textContent }) : setTimeout(look, 5));
      look();
    })`);
    console.log(JSON.stringify(found));
  }
}
main().catch((error) => { console.error(error); process.exitCode = 1; }).finally(() => {
  child.on("exit", () => fs.rmSync(profile, { recursive: true, force: true, maxRetries: 3 }));
  send("Browser.close").catch(() => {});
});
