"""A web service: POST a picture or an ink file to /file, or strokes as JSON to /strokes.

pip install fastapi python-multipart uvicorn
uvicorn fastapi_service:app
"""

from typing import Any

from fastapi import FastAPI, Request, UploadFile
from fastapi.responses import JSONResponse

from namer_edge import NamerEdgeError, Recognizer

app = FastAPI(title="Handwritten mathematics to LaTeX")
recognizer = Recognizer.from_pretrained()


@app.exception_handler(NamerEdgeError)
def refuse(request: Request, error: NamerEdgeError) -> JSONResponse:
    """What cannot be read is answered with the reason and what to do."""
    return JSONResponse({"error": str(error)}, 422)


@app.post("/file")
def read_file(file: UploadFile) -> dict[str, Any]:
    return recognizer(file.file.read()).to_json()


@app.post("/strokes")
def read_strokes(strokes: list[list[tuple[float, float]]]) -> dict[str, Any]:
    return recognizer.strokes(strokes).to_json()
