"""An OpenID Connect provider that accepts every user: `python tests/browser/provider.py PORT`."""

import sys
import time

import uvicorn
from joserfc import jwk, jwt
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse
from starlette.routing import Route

KEY = jwk.RSAKey.generate_key(2048, {"kid": "key", "alg": "RS256", "use": "sig"})
ISSUER = f"http://127.0.0.1:{int(sys.argv[1])}"
nonces: dict[str, str] = {}


def discovery(_: Request) -> JSONResponse:
    places = {"authorization_endpoint": "authorize", "token_endpoint": "token", "jwks_uri": "keys"}
    supported = {"response_types": "code", "subject_types": "public", "id_token_signing_alg_values": "RS256"}
    own = {name: f"{ISSUER}/{place}" for name, place in places.items()}
    return JSONResponse({"issuer": ISSUER} | own | {f"{name}_supported": [one] for name, one in supported.items()})


def authorize(request: Request) -> RedirectResponse:
    given = request.query_params
    code = f"code{len(nonces)}"
    nonces[code] = given.get("nonce", "")
    return RedirectResponse(f"{given['redirect_uri']}?code={code}&state={given['state']}")


async def token(request: Request) -> JSONResponse:
    given = await request.form()
    now = int(time.time())
    claims = {"iss": ISSUER, "sub": "1", "aud": "attnviz", "iat": now, "exp": now + 600, "name": "Ada"}
    claims["nonce"] = nonces.pop(str(given["code"]))
    signed = jwt.encode({"alg": "RS256", "kid": "key"}, claims, KEY)
    return JSONResponse({"access_token": "token", "token_type": "Bearer", "expires_in": 600, "id_token": signed})


def keys(_: Request) -> JSONResponse:
    return JSONResponse({"keys": [KEY.as_dict(private=False)]})


ROUTES = [
    Route("/.well-known/openid-configuration", discovery),
    Route("/authorize", authorize),
    Route("/token", token, methods=["POST"]),
    Route("/keys", keys),
]

if __name__ == "__main__":
    uvicorn.run(Starlette(routes=ROUTES), port=int(sys.argv[1]), log_level="warning")
