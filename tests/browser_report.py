"""Opens a page of `pleach annotate --report` in headless Chromium: stepping by buttons and keys,
clicks on the chart and the moves, the keyboard alone, no message on the console, nothing loaded,
no text run as code.
Needs Chromium with its driver, and selenium.

Usage: browser_report.py DIRECTORY
"""

import pathlib
import shutil
import sys

from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait


def open_browser():
    options = webdriver.ChromeOptions()
    for argument in ("--headless", "--no-sandbox", "--disable-gpu", "--window-size=1100,1000"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = shutil.which("chromedriver") or sys.exit("no chromedriver")
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))


def current(browser):
    return int(browser.find_element(By.CSS_SELECTOR, "#moves .current").get_attribute("data-ply"))


def squares(browser):
    """Square names and pieces, as the page draws them."""
    return browser.execute_script(
        "return [...document.querySelectorAll('#board div')].map(cell => [cell.dataset.square,"
        " cell.querySelector('use')?.getAttribute('href') ?? ''])"
    )


def check_square_sizes(browser):
    """All 64 squares are as wide and as high as the first: ranks without pieces too."""
    sizes = browser.execute_script(
        "return [...document.querySelectorAll('#board div')].map(cell => {"
        " const box = cell.getBoundingClientRect(); return [box.width, box.height]; })"
    )
    side = sizes[0][0]
    uneven = [size for size in sizes if max(abs(length - side) for length in size) > 0.5]
    assert len(sizes) == 64 and not uneven, (side, uneven)


def check_keyboard(browser, last):
    """What works without a mouse: moves as buttons, and keys with caps lock and Shift."""
    for selector in ("#moves", "#turning"):
        for target in browser.find_elements(By.CSS_SELECTOR, f"{selector} [data-ply]")[:3]:
            target.send_keys(Keys.ENTER)
            assert current(browser) == int(target.get_attribute("data-ply")), selector
    shown = browser.find_elements(By.CSS_SELECTOR, "#moves [aria-current]")
    assert [int(move.get_attribute("data-ply")) for move in shown] == [current(browser)]
    assert browser.find_element(By.CSS_SELECTOR, "#now[aria-live=polite]")
    body = browser.find_element(By.TAG_NAME, "body")
    before = squares(browser)
    body.send_keys("F")
    assert squares(browser) == before[::-1], "F does not turn the board"
    for key in (Keys.ARROW_LEFT, Keys.ARROW_RIGHT, Keys.HOME, Keys.END):
        ply = current(browser)
        body.send_keys(Keys.SHIFT + key + Keys.NULL)
        assert current(browser) == ply, "Shift and a key step through the game"
    for ply in (last, 1):
        browser.execute_script(f"location.hash = '#{ply}'")
        wait = WebDriverWait(browser, 5)
        wait.until(lambda browser, ply=ply: current(browser) == ply, "the anchor is not shown")


def check(browser, page):
    browser.get(page.as_uri())
    last = len(browser.find_elements(By.CSS_SELECTOR, "#moves [data-ply]")) - 1
    body = browser.find_element(By.TAG_NAME, "body")
    assert current(browser) == 0 and len(squares(browser)) == 64
    check_square_sizes(browser)
    for key, ply in (
        (Keys.ARROW_RIGHT, 1),
        (Keys.ARROW_RIGHT, 2),
        (Keys.ARROW_LEFT, 1),
        (Keys.END, last),
        (Keys.ARROW_RIGHT, last),
        (Keys.HOME, 0),
        (Keys.ARROW_LEFT, 0),
    ):
        body.send_keys(key)
        assert current(browser) == ply, (key, current(browser), ply)
    for button, ply in (("next", 1), ("last", last), ("back", last - 1), ("first", 0)):
        browser.find_element(By.ID, button).click()
        assert current(browser) == ply, (button, current(browser))
        check_square_sizes(browser)
    before = squares(browser)
    browser.find_element(By.ID, "next").click()
    assert squares(browser) != before, "the board stands still"
    upright = squares(browser)
    body.send_keys("f")
    assert squares(browser) == upright[::-1], "the board is not turned"
    for ply in (last // 2, last):
        browser.find_element(By.CSS_SELECTOR, f'.chart rect[data-ply="{ply}"]').click()
        assert current(browser) == ply, ply
    browser.find_element(By.CSS_SELECTOR, '#moves [data-ply="1"]').click()
    assert current(browser) == 1
    points = browser.find_elements(By.CSS_SELECTOR, "#turning [data-ply]")
    if points:
        points[0].click()
        assert current(browser) == int(points[0].get_attribute("data-ply"))
    check_keyboard(browser, last)
    assert browser.title != "broken" and not browser.find_elements(By.TAG_NAME, "img")
    loaded = browser.execute_script("return performance.getEntriesByType('resource').length")
    assert loaded == 0, "the page loads something"
    log = browser.get_log("browser")
    assert not log, log


def main():
    directory = pathlib.Path(sys.argv[1]).resolve()
    browser = open_browser()
    try:
        pages = sorted(directory.glob("game-*.html"))
        for page in pages:
            check(browser, page)
        browser.get((directory / "index.html").as_uri())
        links = browser.find_elements(By.CSS_SELECTOR, "td a")
        assert len(links) == len(pages), (len(links), len(pages))
        links[0].click()
        assert browser.current_url.endswith(pages[0].name)
        # A phone: nothing is wider than the screen.
        browser.set_window_size(500, 900)
        wide = browser.execute_script("return document.documentElement.scrollWidth > innerWidth")
        assert not wide, "the page is wider than a phone"
    finally:
        browser.quit()
    print(f"{len(pages)} pages")


if __name__ == "__main__":
    main()
