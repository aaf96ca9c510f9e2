from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st
from schemathesis.checks import load_all_checks
from schemathesis.core.result import Ok

from arena.api.app import operations
from tests.arena.api.conftest import Club, api_of, found_club
from tests.arena.conftest import settings_of

DOCS = Path(__file__).parents[3] / "docs"
EXAMPLES = 5
HARMLESS = ("not_a_server_error", "status_code_conformance", "content_type_conformance")
CHECKED = (*HARMLESS, "response_schema_conformance")


def test_route_page_lists_api_routes(club: Club) -> None:
    document = club.public.get("/openapi.json").json()
    existing = {f"{method} {path}" for method, path, _ in operations(document)}
    pages = runpy.run_path(str(DOCS / "reference.py"))["pages"]()
    documented = set(re.findall(r"^\| `([A-Z]+ /[^`]*)` \|", pages["api-routes.md"], re.MULTILINE))
    assert documented == existing


def test_every_route_documents_its_errors(club: Club) -> None:
    document = club.public.get("/openapi.json").json()
    for method, path, operation in operations(document):
        assert operation["description"], f"{method} {path}"
        assert "429" in operation["responses"], f"{method} {path}"
        for status, response in operation["responses"].items():
            if int(status) >= 400:
                assert list(response["content"]) == ["application/problem+json"]
    assert document["components"]["securitySchemes"]


@pytest.mark.slow
def test_every_response_matches_schema(tmp_path: Path) -> None:
    load_all_checks()
    # A separate server, since some requests revoke the token.
    options = settings_of(tmp_path / "home")
    tokens = found_club(options, tmp_path)
    with api_of(options, tmp_path / "log") as address:
        _check_all(address, tokens["alpha"])


def _check_all(address: str, token: str) -> None:
    team = {"Authorization": f"Bearer {token}"}
    schema = schemathesis.openapi.from_url(f"{address}/openapi.json")
    checks = schemathesis.checks.CHECKS.get_by_names(list(CHECKED))

    for found in schema.get_all_operations():
        assert isinstance(found, Ok), found
        operation = found.ok()

        @settings(
            max_examples=EXAMPLES,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
            phases=(Phase.explicit, Phase.generate),
        )
        @given(
            case=st.one_of(
                operation.as_strategy(),
                operation.as_strategy(generation_mode=schemathesis.GenerationMode.NEGATIVE),
            )
        )
        def conforms(case: Any) -> None:  # noqa: ANN401
            path = case.formatted_path
            # The server refuses such addresses before the API sees them.
            assume(not any(sign in unquote(path) for sign in ("..", "\n", "\0", "\\", "//")))
            # Generating a request takes longer than answering it.
            for headers in (team, {}):
                case.call_and_validate(headers=headers, checks=checks)

        conforms()


def test_health_counts_boards(public: httpx.Client) -> None:
    response = public.get("/health")
    assert response.json() == {"status": "ok", "boards": 2}
    assert response.headers["cache-control"] == "no-store"


def test_wrong_method_lists_allowed_methods(public: httpx.Client) -> None:
    response = public.put("/sets/tiny")
    assert (response.status_code, response.headers["allow"]) == (405, "GET")
    assert response.json()["advice"] == "Use GET."


def test_unknown_path_returns_rfc_9457_problem(public: httpx.Client) -> None:
    for path in ("/sets/no", "/leaderboards/no", "/rounds/no", "/rounds/no/battles", "/no"):
        response = public.get(path)
        assert response.status_code == 404
        assert response.headers["content-type"] == "application/problem+json"
        problem = response.json()
        assert problem["status"] == 404
        assert all(problem[name] for name in ("title", "detail", "advice"))
        assert problem["type"].startswith("/api/v1/#problem-")


def test_problem_types_link_to_explanations(public: httpx.Client) -> None:
    page = public.get("/").text
    for path in ("/sets/no", "/sets/tiny/questions?limit=0"):
        kind = public.get(path).json()["type"]
        assert f'id="{kind.partition("#")[2]}"' in page


def test_api_page_loads_no_external_resources(public: httpx.Client) -> None:
    page = public.get("/").text
    for path in public.get("/openapi.json").json()["paths"]:
        assert path in page
    assert "<script" not in page
    assert "http://" not in page
    assert "https://" not in page
    assert public.get("/docs").status_code == public.get("/redoc").status_code == 404


def test_cors_allows_public_reads_without_credentials(public: httpx.Client) -> None:
    response = public.get("/leaderboards", headers={"Origin": "https://elsewhere.example"})
    assert response.headers["access-control-allow-origin"] == "*"
    assert "access-control-allow-credentials" not in response.headers
    headers = {"Origin": "https://elsewhere.example", "Access-Control-Request-Method": "PUT"}
    assert public.options("/leaderboards", headers=headers).status_code == 400


def test_path_traversal_is_rejected(public: httpx.Client) -> None:
    for name in ("..%2f..%2fetc%2fpasswd", "%2e%2e", "a%00b", "..%5c..%5cx", "a%2fb"):
        assert public.get(f"/sets/{name}").status_code in {400, 404, 422}
