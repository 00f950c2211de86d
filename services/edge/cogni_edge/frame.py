"""What a browser loads before anybody is known: the frame of a surface, its files, and the mount script."""

from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

from cogni_edge.problems import problem
from cogni_edge.requests import frame_query_of, language_in
from cogni_kernel import Err, HumanText, NotFoundError
from cogni_surfaces import SurfaceRegistry, WebFile, web_asset, web_frame, web_mount

_HEADERS = {
    "Cache-Control": "no-cache",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Vary": "Accept-Encoding",
}
_OPEN = {"Access-Control-Allow-Origin": "*", "Cross-Origin-Resource-Policy": "cross-origin"}
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; "
    "font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors "
)
_POWERS = (
    "accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), hid=(), magnetometer=(), "
    "microphone=(), midi=(), payment=(), serial=(), usb=(), xr-spatial-tracking=()"
)


@dataclass(frozen=True, slots=True)
class FrameRoutes:
    """Serves the browser's side. Nothing of a tenant is in it but who may hold it in a frame.

    Source:
        DESIGN D11.
    """

    surfaces: SurfaceRegistry

    async def get_frame(self, request: Request) -> Response:
        """Return the frame, for the pages that the tenant's key lists and for no other."""
        surface_id = frame_query_of(request)
        if isinstance(surface_id, Err):
            return problem(surface_id.error, language_in(request))
        issuer = await self.surfaces.framed(request.path_params["key_id"], surface_id.value)
        if isinstance(issuer, Err):
            return problem(issuer.error, language_in(request))
        ancestors = " ".join(issuer.value.origins) or "'none'"
        headers = {
            "Content-Security-Policy": _POLICY + ancestors,
            "Permissions-Policy": _POWERS,
            "Cross-Origin-Resource-Policy": "cross-origin",
        }
        return _sent(request, web_frame(), headers)

    async def get_asset(self, request: Request) -> Response:
        """Return a style, script, picture or font of the frame."""
        own = {"Cross-Origin-Resource-Policy": "same-origin"}
        return _sent(request, web_asset(request.path_params["name"]), own)

    async def get_mount(self, request: Request) -> Response:
        """Return the script that a host page loads, from wherever."""
        return _sent(request, web_mount(), _OPEN)


def _sent(request: Request, file: WebFile | None, more: dict[str, str]) -> Response:
    if file is None:
        return problem(NotFoundError(HumanText("")), language_in(request))
    headers = {**_HEADERS, **more, "ETag": file.etag}
    if file.etag in request.headers.get("if-none-match", ""):
        return Response(None, 304, headers)
    if "gzip" in request.headers.get("accept-encoding", "").lower():
        headers["Content-Encoding"] = "gzip"
        return Response(file.zipped, 200, headers, media_type=file.media_type)
    return Response(file.data, 200, headers, media_type=file.media_type)
