from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from websockets import Subprotocol
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from arena.container import Arena
from arena.services.accounts.auth import OPERATOR
from arena.settings import Settings, read_settings
from arena.site.middleware import ServedHosts, origin_of, page_policy, script_hashes
from data.errors import InputError
from data.models import TokenScope
from tests.browsing import Visitor

FRAMER = "https://lab.example.org"
PATHS = (
    "/",
    "/question?board=tiny&id=q3",
    "/healthz",
    "/metrics",
    "/auth/sign-in",
    "/auth/sign-out",
    "/api/v1/",
    "/api/v1/health",
    "/api/v1/nothing",
    "/media/nothing.png",
    "/_stcore/health",
    "/_stcore/agent/nothing",
    "/favicon.png",
)


@pytest.fixture(scope="module")
def configured(
    published: Settings,
    served: Callable[..., AbstractContextManager[str]],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[str]:
    """The address of a site with a public address, a further host and two origins that may frame it."""
    log = tmp_path_factory.mktemp("configured") / "log"
    with served(
        published,
        log,
        ARENA_FRAMERS=f"{FRAMER}, https://*.example.net",
        ARENA_PUBLIC_URL="https://arena.example.org",
        ARENA_HOSTS="inner",
    ) as url:
        yield url


@pytest.fixture
def framing() -> Iterator[Callable[[str], str]]:
    """Serve a page from another origin; gives its address."""
    with ExitStack() as stack:

        def publish(page: str) -> str:
            class Other(BaseHTTPRequestHandler):
                def do_GET(self) -> None:
                    self.send_response(200)
                    self.send_header("Content-Type", "text/html")
                    self.end_headers()
                    self.wfile.write(page.encode())

                def log_message(self, *_words: object) -> None:
                    """Say nothing."""

            server = ThreadingHTTPServer(("127.0.0.1", 0), Other)
            threading.Thread(target=server.serve_forever, daemon=True).start()
            stack.callback(server.server_close)
            stack.callback(server.shutdown)
            return f"http://localhost:{server.server_port}"

        yield publish


@pytest.mark.long
@pytest.mark.parametrize("path", PATHS)
def test_every_answer_says_what_browsers_may_do_with_it(site: str, path: str) -> None:
    """C2: Every page, route and error has a policy without foreign hosts, `nosniff` and a Referrer-Policy."""
    headers = httpx.get(f"{site}{path}").headers
    policy = headers["content-security-policy"]
    assert "default-src 'self'" in policy or "default-src 'none'" in policy
    assert "frame-ancestors" in policy
    assert "'unsafe-eval'" not in policy
    assert "http" not in policy
    assert "'unsafe-inline'" not in policy.partition("script-src")[2].partition(";")[0]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] in {"same-origin", "no-referrer"}


def test_pages_may_be_framed_by_whom_the_settings_name(configured: str) -> None:
    """C2: Pages are for frames of this site and ARENA_FRAMERS, forms for nobody's."""
    found = {}
    for path in ("/", "/auth/sign-in", "/api/v1/"):
        policy = httpx.get(f"{configured}{path}").headers["content-security-policy"]
        found[path] = policy.partition("frame-ancestors ")[2]
    named = f"'self' {FRAMER} https://*.example.net"
    assert found == {
        "/": named,
        "/auth/sign-in": "'none'",
        "/api/v1/": "'none'",
    }


def test_script_inside_a_document_is_known_by_its_hash() -> None:
    """C2: A document's own script is named by its SHA-256 in the policy; scripts with an address are not."""
    text = '<p>a</p><script>\n  alert(1)\n</script><script src="./a.js"></script><script></script>'
    alert, nothing = script_hashes(text)
    assert alert == "sha256-BjA0ROBfupHLCiW2gRrYiELX3ecfNFbiR7URMIXYaeU="
    assert nothing == "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
    assert "unsafe-inline" not in page_policy(()).partition("script-src")[2].partition(";")[0]


class _Members:
    """A served copy of the published boards with a team and an organiser."""

    def __init__(self, url: str, tokens: dict[str, str]) -> None:
        self.url, self.tokens = url, tokens


@pytest.fixture(scope="module")
def members(
    published: Settings,
    served: Callable[[Settings, Path], AbstractContextManager[str]],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[_Members]:
    """Serve it; the team `ours` holds a submission that waits to be submitted."""
    folder = tmp_path_factory.mktemp("members")
    settings = replace(published, home=folder, database_url=f"sqlite:///{folder / 'arena.sqlite'}")
    shutil.copytree(published.home, folder, dirs_exist_ok=True)
    arena = Arena(settings)
    arena.teams.add("ours", caller=OPERATOR)
    arena.teams.add_account("olga", is_organiser=True, caller=OPERATOR)
    team, everything = {TokenScope.SUBMIT, TokenScope.MANAGE}, {TokenScope.ORGANISE}
    tokens = {
        "team": arena.tokens.create(name="t", scopes=team, team="ours", caller=OPERATOR).secret,
        "organiser": arena.tokens.create(name="o", scopes=everything, account="olga", caller=OPERATOR).secret,
    }
    rows = [json.dumps({"question_id": f"q{n}", "answer": f"Item {n} is held."}) for n in range(12)]
    (folder / "held.jsonl").write_text("\n".join(rows))
    arena.submissions.add(folder / "held.jsonl", "tiny", system="held", team="ours", confirm=False)
    arena.close()
    with served(settings, folder / "log") as url:
        yield _Members(url, tokens)


WATCH = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) => {
  window.violations.push(`${event.violatedDirective}: ${event.blockedURI} in ${event.sourceFile}`);
});
"""
DRAWN = """
return [...document.querySelectorAll('[data-testid=stVegaLiteChart]')].every(
  (one) => one.querySelector('canvas, svg')
)
"""
PUBLIC_PAGES = (
    "/?board=tiny",
    "/?board=rag-qa-arena",
    "/compare?board=tiny&a=full&b=short",
    "/matrix?board=tiny&system=short",
    "/system?board=tiny&id=full",
    "/questions?board=tiny",
    "/question?board=tiny&id=q3",
    "/rounds",
    "/trust?board=tiny",
    "/methodology",
    "/data?board=tiny&x=words&y=win-tie",
    "/submit",
    "/team",
    "/nothing",
    "/auth/sign-in",
    "/api/v1/",
)
PAGES = {
    "nobody": PUBLIC_PAGES,
    "team": ("/submit?set=tiny", "/team", "/auth/sign-out"),
    "organiser": (
        "/rank",
        "/admin",
        "/admin-data",
        "/admin-rounds",
        "/admin-judges",
        "/admin-people",
        "/team",
    ),
}


@pytest.fixture
def watched(browser: webdriver.Chrome) -> Iterator[webdriver.Chrome]:
    """A browser that notes what a page does against its policy."""
    watch = browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": WATCH})
    yield browser
    browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", watch)
    browser.delete_all_cookies()


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("who", list(PAGES))
def test_no_page_breaks_its_policy(
    members: _Members, watched: webdriver.Chrome, walk: Visitor, until: Callable[..., None], who: str
) -> None:
    """C2: A browser reports no violation on any page of the public, a team, an organiser; charts draw."""
    walk.size(1440)
    if who in members.tokens:
        Visitor(watched, members.url).sign_in(members.tokens[who])
    charts, seen = set(), {}
    for path in PAGES[who]:
        watched.get(f"{members.url}{path}")
        if watched.find_elements(By.ID, "root"):
            walk.rest()
        until(lambda: bool(watched.execute_script(DRAWN)))
        if watched.find_elements(By.CSS_SELECTOR, "[data-testid=stVegaLiteChart]"):
            charts.add(path.partition("?")[0])
        seen[path] = watched.execute_script("return window.violations")
    assert not any(seen.values()), seen
    assert who != "nobody" or "/data" in charts, charts


@pytest.mark.long
@pytest.mark.browser
def test_script_inside_a_page_does_not_run(
    members: _Members, watched: webdriver.Chrome, walk: Visitor, until: Callable[..., None]
) -> None:
    """C2: A script that finds a way into a page, and one of a foreign host, are stopped and reported."""
    watched.get(members.url)
    walk.rest()
    watched.execute_script(
        "const inline = document.createElement('script'); inline.textContent = 'window.ran = 1';"
        "const foreign = document.createElement('script'); foreign.src = 'https://foreign.invalid/x.js';"
        "document.body.append(inline, foreign)"
    )
    until(lambda: len(watched.execute_script("return window.violations")) >= 2)
    assert watched.execute_script("return window.ran") is None
    assert any("foreign.invalid" in one for one in watched.execute_script("return window.violations"))


FRAME = """<!doctype html><title>A page of another site</title>
<iframe id="page" src="{url}/" width="700" height="420"></iframe>"""


@pytest.mark.browser
def test_other_sites_frame_no_page(
    members: _Members, watched: webdriver.Chrome, framing: Callable[[str], str]
) -> None:
    """C2: In a page of another origin no page is shown."""
    watched.get(framing(FRAME.format(url=members.url)))
    watched.switch_to.frame("page")
    assert not watched.find_elements(By.CSS_SELECTOR, ".aa-board")
    watched.switch_to.default_content()


def test_settings_of_hosts_and_framers_are_read() -> None:
    """C2, C5: Hosts and framers are lists; what is no host, no origin or no address is refused by name."""
    found = read_settings(
        {
            "ARENA_PUBLIC_URL": "https://Arena.example.org/",
            "ARENA_HOSTS": "site, [::1] 10.0.0.5",
            "ARENA_FRAMERS": "https://lab.example.org:8443",
        }
    )
    assert found.public_url == "https://Arena.example.org"
    assert found.hosts == ("site", "[::1]", "10.0.0.5")
    assert ServedHosts.of(found, "myhost").names >= {
        "arena.example.org",
        "site",
        "::1",
        "myhost",
        "localhost",
    }
    for name, wrong in (
        ("ARENA_PUBLIC_URL", "arena.example.org"),
        ("ARENA_PUBLIC_URL", "https://u:p@arena.example.org"),
        ("ARENA_HOSTS", "https://arena.example.org"),
        ("ARENA_FRAMERS", "'none'; script-src *"),
        ("ARENA_METRICS", "maybe"),
    ):
        with pytest.raises(InputError, match=name):
            read_settings({name: wrong})


@pytest.mark.parametrize(
    "address", ["null", "", "http://", "//x", "http://a:b", "http://a:99999", "http://[", "file:///etc"]
)
def test_what_is_no_origin_is_none(address: str) -> None:
    """C5: An `Origin` that browsers send for files and sandboxes, or that nobody can read, is no site's."""
    assert origin_of(address) is None


@pytest.mark.long
@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("{host}", 200),
        ("localhost:8501", 200),
        ("[::1]", 200),
        ("evil.example", 421),
        ("127.0.0.1.evil.example", 421),
        ("127.0.0.1@evil.example", 400),
        ("a/b", 400),
    ],
)
def test_only_configured_hosts_are_served(site: str, host: str, status: int) -> None:
    """C5: Another name in `Host`, as a rebound DNS name sends it, is refused on every route and told why."""
    sent = {"Host": host.format(host=site.removeprefix("http://"))}
    for path in ("/", "/api/v1/health", "/healthz"):
        answer = httpx.get(f"{site}{path}", headers=sent)
        assert answer.status_code == status, path
        if status == 421:
            assert "ARENA_HOSTS" in answer.json()["advice"]
            assert "evil" not in answer.text
            assert answer.headers["cache-control"] == "no-store"


def test_host_of_the_settings_is_served(configured: str) -> None:
    """C5: The public address is served, whatever `Host` is asked."""
    for host in ("arena.example.org", "inner:8501", "localhost"):
        assert httpx.get(f"{configured}/", headers={"Host": host}).status_code == 200


def _stream(site: str, **options: Any) -> int:  # noqa: ANN401 - of the WebSocket client
    """The status with which a WebSocket is opened, or refused."""
    try:
        address = f"{site.replace('http', 'ws', 1)}/_stcore/stream"
        with connect(address, subprotocols=[Subprotocol("streamlit")], **options):
            return 101
    except InvalidStatus as refusal:
        return int(refusal.response.status_code)


def test_websocket_is_opened_from_this_origin_alone(site: str) -> None:
    """C5: Another port, another scheme, another host, and `null` are refused; this site's pages are not."""
    host, port = site.removeprefix("http://").split(":")
    assert _stream(site, origin=site) == 101
    for origin in (
        f"http://{host}:{int(port) + 1}",
        f"https://{host}:{port}",
        f"http://{host}",
        f"http://localhost:{port}",
        "http://evil.example",
        "null",
    ):
        assert _stream(site, origin=origin) == 403, origin
    proxied = {"X-Forwarded-Proto": "https"}
    assert _stream(site, origin=f"https://{host}:{port}", additional_headers=proxied) == 101


@pytest.mark.long
@pytest.mark.parametrize(
    "path",
    [
        "/media/nothing.png",
        "/_stcore/agent/nothing",
        "/nothing",
        "/system/nothing",
        "/index.html",
    ],
)
def test_missing_thing_is_a_problem_for_programs_and_a_page_for_readers(site: str, path: str) -> None:
    """C5: A 404 is a page for browsers, a problem as of the API for programs, and never bare text."""
    page = httpx.get(f"{site}{path}", headers={"Accept": "text/html,*/*;q=0.8"})
    assert (page.status_code, page.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert "<h1>Not Found</h1>" in page.text
    problem = httpx.get(f"{site}{path}", headers={"Accept": "application/json"})
    assert (problem.status_code, problem.headers["content-type"]) == (404, "application/problem+json")
    assert problem.json()["status"] == 404
