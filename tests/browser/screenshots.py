"""Pictures of each page for the README: light, dark and on a phone.

wattwise app --port 8501 &
python tests/browser/screenshots.py http://localhost:8501 docs
"""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

EXAM = "Which AWS chip is for inference?\nA. Trainium\nB. Inferentia\nC. Graviton\nD. Nitro"
PAGES = {
    "landing": "",
    "chat": f"?q={quote('How much accelerator memory does a trn1.32xlarge have?')}",
    "comparison": f"?q={quote('Trainium or Inferentia?')}",
    "exam-question": f"?q={quote(EXAM)}",
    "refusal": f"?q={quote('How much does a Gaudi3 chip cost?')}",
    "size": "size?model=meta-llama/Meta-Llama-3.1-70B&context=32k&users=8",
    "sources": "sources",
    "exam": "exam",
}
# Ending of the file name, width, height, theme.
LOOKS = (("", 1280, 1050, "light"), ("-dark", 1280, 1050, "dark"), ("-phone", 390, 844, "light"))


def main(address: str, folder: Path) -> None:
    for ending, width, height, theme in LOOKS:
        with browser(width, height, theme) as driver:
            for name, path in PAGES.items():
                driver.get(f"{address}/{path}")
                settle(driver)
                if name == "chat":
                    driver.find_element(By.CSS_SELECTOR, ".ww-mark").click()
                    time.sleep(1)
                driver.save_screenshot(str(folder / f"{name}{ending}.png"))


@contextmanager
def browser(width: int, height: int, theme: str) -> Iterator[webdriver.Chrome]:
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(argument)
    driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
    size = {"width": width, "height": height, "deviceScaleFactor": 1.5, "mobile": width < 500}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    media = {"features": [{"name": "prefers-color-scheme", "value": theme}]}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    try:
        yield driver
    finally:
        driver.quit()


def settle(driver: webdriver.Chrome) -> None:
    time.sleep(2)
    WebDriverWait(driver, 40).until(lambda d: d.find_elements(By.CSS_SELECTOR, '[data-test-script-state="notRunning"]'))
    time.sleep(1)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
