"""Every page state in every look: no serious axe-core violation in our own elements, no sideways scrolling, and a screenshot.

`WATTWISE_PICTURES=docs pytest -m evaluation tests/browser/test_states.py` writes the screenshots that the README shows.
"""

import os
import time
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.browser.conftest import Page

AXE = Path(__file__).parent / "node_modules" / "axe-core" / "axe.min.js"
EXAM = "Which AWS chip is for inference?\nA. Trainium\nB. Inferentia\nC. Graviton\nD. Nitro"
STATES = {
    "landing": "",
    "chat": f"?q={quote('How much accelerator memory does a trn1.32xlarge have?')}",
    "comparison": f"?q={quote('specs of p4d.24xlarge and p5.48xlarge')}",
    "sizing": f"?q={quote('Serve Llama 3.1 70B with 32k context')}",
    "exam-question": f"?q={quote(EXAM)}",
    "refusal": f"?q={quote('How much does a Gaudi3 chip cost?')}",
    "hello": "?q=hello",
    "size": "size?model=meta-llama/Meta-Llama-3.1-70B&context=32k&users=8",
    "sources": "sources",
    "document": f"sources?doc={quote('corpus/trainium-exam-notes.md', safe='')}&quote={quote('cost of inference')}",
    "exam": "exam",
}
# Suffix of the screenshot's file name, width, height, theme.
LOOKS = (
    ("", 1280, 1050, "light"),
    ("-dark", 1280, 1050, "dark"),
    ("-phone", 390, 844, "light"),
    ("-phone-dark", 390, 844, "dark"),
)
# Only violations in our own HTML are reported, not those in Streamlit's elements.
VIOLATIONS = """
const done = arguments[arguments.length - 1];
const isOurs = (node) => document.querySelector(node.target[0])?.closest('[data-testid="stHtml"]');
axe.run(document, {resultTypes: ["violations"]}).then((found) => done(found.violations
  .filter((violation) => ["serious", "critical"].includes(violation.impact))
  .flatMap((violation) => violation.nodes.filter(isOurs).map((node) => `${violation.id}: ${node.html}`))));
"""
SIDEWAYS = """
const main = document.querySelector('[data-testid="stMainBlockContainer"]');
return main.scrollWidth > main.clientWidth || document.documentElement.scrollWidth > window.innerWidth;
"""


@pytest.mark.evaluation
@pytest.mark.parametrize(("ending", "width", "height", "theme"), LOOKS)
def test_every_state_can_be_read_by_everybody(page: Page, ending: str, width: int, height: int, theme: str) -> None:
    if not AXE.is_file():
        pytest.skip("no axe-core here: npm install --prefix tests/browser")
    driver, folder = page.driver, os.environ.get("WATTWISE_PICTURES")
    size = {"width": width, "height": height, "deviceScaleFactor": 1.5, "mobile": width < 500}
    media = {"features": [{"name": "prefers-color-scheme", "value": theme}]}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    found: dict[str, object] = {}
    try:
        for state, path in STATES.items():
            page.open(path)
            if state == "chat":
                page.wait_for("a.ww-mark").click()
            time.sleep(0.5)
            if folder:
                driver.save_screenshot(str(Path(folder) / f"{state}{ending}.png"))
            driver.execute_script("document.querySelectorAll('.ww-card, .ww-more').forEach((card) => card.open = true)")
            driver.execute_script(AXE.read_text(encoding="utf-8"))
            found[state] = (driver.execute_async_script(VIOLATIONS), driver.execute_script(SIDEWAYS))
    finally:
        driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert found == dict.fromkeys(STATES, ([], False))
