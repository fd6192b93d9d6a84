"""The guard proxy: an application points OpenAI's client at it, and passes its documents with the request.

The model server is a stand-in that always gives the same answer; yours is any OpenAI-compatible server. Needs the extra
serve. Prints:
    The bridge opened in 1973. failed repaired
"""

import json
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import openai

SAID = {"role": "assistant", "content": "The bridge opened in 1937."}
CHOICE = {"index": 0, "message": SAID, "finish_reason": "stop"}
ANSWER = {"id": "1", "object": "chat.completion", "created": 1, "model": "tiny", "choices": [CHOICE]}


class StandIn(BaseHTTPRequestHandler):
    """A model server with one answer."""

    def do_POST(self) -> None:
        """Answer."""
        self.rfile.read(int(self.headers["content-length"]))
        body = json.dumps(ANSWER).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


models = ThreadingHTTPServer(("127.0.0.1", 0), StandIn)
threading.Thread(target=models.serve_forever, daemon=True).start()

upstream = f"http://127.0.0.1:{models.server_port}/v1"
command = [
    sys.executable,
    "-m",
    "vouching",
    "proxy",
    "--upstream",
    upstream,
    "--action",
    "repair",
    "--address",
    "127.0.0.1:0",
]
proxy = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
try:
    started = next(line for line in proxy.stderr if "proxy at" in line)
    client = openai.OpenAI(base_url=f"{started.split()[3]}/v1", api_key="none")
    documents = [{"doc_id": "bridge.txt", "text": "The bridge opened in 1973."}]
    question = [{"role": "user", "content": "When did the bridge open?"}]
    answer = client.chat.completions.create(model="tiny", messages=question, extra_body={"documents": documents})
    print(answer.choices[0].message.content, answer.vouch["outcome"], answer.vouch["action"])
finally:
    proxy.terminate()
    proxy.wait()
