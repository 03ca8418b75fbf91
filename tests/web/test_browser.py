"""The pages in a real browser: Debian's Chromium, headless, driven by Selenium."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time

import pytest

import manyhands

webdriver = pytest.importorskip("selenium.webdriver", reason="Selenium is not installed")
BROWSER, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
pytestmark = pytest.mark.skipif(not (BROWSER and DRIVER), reason="there is no Chromium here")
PATIENCE = 120  # seconds: the first step of a game is compiled
QUIET = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """Where a server of a few games and a record listens."""
    folder = tmp_path_factory.mktemp("records")
    manyhands.play("tic_tac_toe", "random", record=folder / "run.jsonl")
    command = [sys.executable, "-m", "manyhands", "serve", "tic_tac_toe", "kuhn_poker"]
    command += ["negotiation", "kitchen max_steps=9"]
    command += ["--port", "0", "--records", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ) as server:
        yield server.stdout.readline().strip()
        server.terminate()


@pytest.fixture(scope="module")
def browser():
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for argument in QUIET:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = webdriver.ChromeService(DRIVER)
    driver = webdriver.Chrome(options=options, service=service)
    yield driver
    driver.quit()


def wait(found):
    """What a function finds, as soon as it finds something."""
    deadline = time.monotonic() + PATIENCE
    while not (result := found()):
        assert time.monotonic() < deadline, "nothing happened on the page"
        time.sleep(0.05)
    return result


def all_of(browser, selector):
    return browser.find_elements("css selector", selector)


def text_of(browser, id):
    return browser.execute_script(f"return document.getElementById({id!r})?.textContent || ''")


def start(browser, address, game, *seats):
    """Choose a game and its seats on the first page."""
    browser.get("about:blank")
    browser.get(address)
    forms = wait(lambda: [f for f in all_of(browser, "form.card") if game in f.text])
    for agent, seat in enumerate(seats):
        select = forms[0].find_elements("css selector", "select")[agent]
        select.find_element("css selector", f"option[value={seat}]").click()
    forms[0].find_element("css selector", "button[type=submit]").click()


def click_a_choice(browser, words=""):
    enabled = "#choices button:not(:disabled)"
    wait(lambda: [b for b in all_of(browser, enabled) if words in b.text])[0].click()


def my_move_or_over(browser):
    def found():
        status = text_of(browser, "status")
        return status if "your move" in status or "over" in status else ""

    return wait(found)


def test_a_game_with_a_bot_a_reload_and_another_game(browser, address):
    start(browser, address, "tic_tac_toe", "person", "random")
    before = wait(lambda: text_of(browser, "status") and text_of(browser, "text"))
    click_a_choice(browser)
    wait(lambda: text_of(browser, "text") not in ("", before))
    browser.refresh()  # the seat is taken again, and the game goes on
    wait(lambda: "your move" in text_of(browser, "status"))
    assert text_of(browser, "text") != before
    while "over" not in my_move_or_over(browser):
        step = text_of(browser, "status")
        click_a_choice(browser)
        wait(lambda step=step: text_of(browser, "status") != step)
    again = wait(lambda: [b for b in all_of(browser, "#again") if b.is_displayed()])
    again[0].click()
    wait(lambda: "Step 0" in text_of(browser, "status"))
    assert wait(lambda: all_of(browser, "canvas[data-pictures]"))[0].get_attribute("width") == "640"
    severe = [line for line in browser.get_log("browser") if line["level"] == "SEVERE"]
    assert not severe


def test_two_pages_play_a_hand(browser, address):
    start(browser, address, "kuhn_poker", "person", "person")
    link = wait(lambda: all_of(browser, "a.invite"))[0].get_attribute("href")
    first = browser.current_window_handle
    browser.switch_to.new_window("tab")
    browser.get(link)
    second = browser.current_window_handle
    browser.switch_to.window(first)
    click_a_choice(browser, "bet")
    browser.switch_to.window(second)
    click_a_choice(browser, "fold")
    assert "Your reward: -1" in wait(
        lambda: "over" in text_of(browser, "status") and text_of(browser, "status")
    )
    browser.close()
    browser.switch_to.window(first)
    wait(lambda: "Your reward: 1" in text_of(browser, "status"))


def test_what_happened_is_told_newest_first(browser, address):
    start(browser, address, "kuhn_poker", "person", "random")
    click_a_choice(browser, "check")
    wait(lambda: "player_1:" in text_of(browser, "happened"))
    lines = [line.text for line in all_of(browser, "#happened li")]
    assert lines[-1].endswith("you: check") and "player_1: " in "".join(lines[:-1])
    steps = [int(line.split()[0]) for line in lines]
    assert steps == sorted(steps, reverse=True)


def test_a_hostile_message_is_shown_as_text(browser, address):
    start(browser, address, "negotiation", "person", "person")
    link = wait(lambda: all_of(browser, "a.invite"))[0].get_attribute("href")
    first = browser.current_window_handle
    browser.switch_to.new_window("tab")
    browser.get(link)
    second = browser.current_window_handle
    browser.switch_to.window(first)
    hostile = '<img src=x onerror="document.title=1">'
    say = wait(lambda: [box for box in all_of(browser, "#say") if box.is_displayed()])[0]
    say.send_keys(hostile)
    click_a_choice(browser, "pass")
    browser.switch_to.window(second)
    wait(lambda: 'onerror="document.title=1"' in text_of(browser, "happened"))
    assert not all_of(browser, "main img") and browser.title == "Manyhands"
    browser.close()
    browser.switch_to.window(first)


def test_a_finger_plays(browser, address):
    """On an emulated phone: nothing is too wide, and a tap on the pad moves."""
    size = {"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": True})
    try:
        start(browser, address, "kitchen", "person", "random")
        pad = wait(lambda: all_of(browser, "#pad button:not(:disabled)"))
        assert all(button.is_displayed() for button in pad)
        assert browser.execute_script("return document.documentElement.scrollWidth") <= 390
        assert not [b for b in all_of(browser, "#choices .padded") if b.is_displayed()]
        middle = (
            "const box = arguments[0].getBoundingClientRect();"
            "return {x: box.x + box.width / 2, y: box.y + box.height / 2}"
        )
        browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", pad[0])
        where = browser.execute_script(middle, pad[0])
        assert where["x"] < 390 and pad[0].size["height"] >= 44
        for kind, points in (("touchStart", [where]), ("touchEnd", [])):
            touch = {"type": kind, "touchPoints": points}
            browser.execute_cdp_cmd("Input.dispatchTouchEvent", touch)
        wait(lambda: text_of(browser, "status").startswith("Step 1"))
    finally:
        browser.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": False})
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@pytest.mark.slow  # homes take long to compile
def test_a_mouse_chooses_in_the_picture(browser):
    """What a click would do is shown over the picture; a click does it."""
    command = [sys.executable, "-m", "manyhands", "serve", "home task=chore_small", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ) as server:
        try:
            start(browser, server.stdout.readline().strip(), "home", "person")
            wait(lambda: "your move" in text_of(browser, "status"))
            picture = wait(lambda: all_of(browser, "canvas[data-pictures]"))[0]
            wide, high = picture.size["width"], picture.size["height"]
            said = ""
            for x in range(-wide // 2 + 20, wide // 2 - 20, 30):
                mouse = webdriver.ActionChains(browser)
                mouse.move_to_element_with_offset(picture, x, high // 4).perform()
                said = picture.get_attribute("title")
                if said.startswith("go to"):
                    break
            assert said.startswith("go to")
            mouse.click().perform()
            wait(lambda: "Step 1" in text_of(browser, "status"))
            assert said.removeprefix("go to ") in text_of(browser, "text")
        finally:
            server.terminate()


def test_a_record_is_stepped_through(browser, address):
    browser.get("about:blank")
    browser.get(address)
    wait(lambda: all_of(browser, "td a"))[0].click()
    wait(lambda: "Moment 0" in text_of(browser, "status"))
    wait(lambda: all_of(browser, "#event"))[0].click()
    last = wait(lambda: "Moment 0" not in text_of(browser, "status") and browser.current_url)
    wait(lambda: "random" in text_of(browser, "did"))
    browser.refresh()  # a link to a moment
    wait(lambda: text_of(browser, "status").startswith(f"Moment {last.rpartition('/')[2]} "))


STUDY = """
title = "A study"
consent = "Do you take part?"
instructions = "Three in a row."

[partners]
random = "random"

[games.tic_tac_toe]

[[questions]]
name = "fair"
when = "after_game"
kind = "scale"
text = "It was fair."

[[questions]]
name = "liked"
kind = "choice"
text = "What did you like? <b>Be honest</b>"
options = ["the game", "the partner"]
many = true

[[questions]]
name = "more"
text = "What else?"
"""


def test_a_study_to_its_code(browser, tmp_path):
    (tmp_path / "study.toml").write_text(STUDY)
    out = tmp_path / "out"
    command = [sys.executable, "-m", "manyhands", "serve", "--port", "0"]
    command += ["--study", str(tmp_path / "study.toml"), "--out", str(out)]

    def go_on(words):
        wait(lambda: [b for b in all_of(browser, "#next") if b.text == words])[0].click()

    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ) as server:
        try:
            browser.get(server.stdout.readline().strip())
            go_on("I consent")
            wait(lambda: "Three in a row." in text_of(browser, "main"))
            browser.refresh()
            go_on("Continue")
            click_a_choice(browser)
            wait(lambda: text_of(browser, "status").startswith("Step"))
            browser.refresh()  # in the middle of the game, which goes on
            while not all_of(browser, "#next"):
                enabled = all_of(browser, "#choices button:not(:disabled)")
                if enabled:
                    browser.execute_script("arguments[0].click()", enabled[0])
                time.sleep(0.05)
            go_on("Continue")
            wait(lambda: all_of(browser, "input[name=fair]"))[3].click()
            go_on("Continue")
            for box in wait(lambda: all_of(browser, "input[name=liked]")):
                box.click()
            assert "<b>" in text_of(browser, "main")
            all_of(browser, "textarea")[0].send_keys("nothing")
            go_on("Continue")
            code = wait(lambda: text_of(browser, "code"))
        finally:
            server.terminate()
    assert code in (out / "participants.csv").read_text()
    answers = (out / "answers.csv").read_text()
    assert "fair,4" in answers and "the game; the partner" in answers and "nothing" in answers
    assert len(list((out / "records").glob("*.jsonl"))) == 1
