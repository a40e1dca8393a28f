"""`urnic web` as a test runs it, and requests to it without a browser."""

import http.client
import json
import re
import urllib.parse


class WebPage:
    """A running `urnic web` of a fabric; ends with the fabric's programs. `arguments`: more words of its command line."""

    def __init__(self, fabric, *arguments):
        self.program = fabric.start(fabric.urnic, "web", *arguments)
        self.program.wait_for_output("#token=")
        self.address = re.search(r"http://\S+", self.program.output())[0]
        self.token = self.address.split("#token=")[1]
        self.host, port = re.search(r"http://([^/]+):(\d+)/", self.address).groups()
        self.port = int(port)

    def request(self, path, method="GET", body=None, token=True, headers=None):
        """Returns (status, headers, text)."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=30)
        sent = dict(headers or {})
        if token:
            sent["Authorization"] = f"Bearer {self.token}"
        connection.request(method, path, body=body, headers=sent)
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return answer.status, dict(answer.getheaders()), text

    def ask(self, path, **parameters):
        """The JSON at a path, which must be there."""
        query = f"?{urllib.parse.urlencode(parameters)}" if parameters else ""
        status, _, text = self.request(path + query)
        assert status == 200, f"{path}: {status} {text[:500]}"
        return json.loads(text)

    def act(self, path, action):
        """Changes something; returns (status, answer)."""
        status, _, text = self.request(path, method="POST", body=json.dumps(action))
        return status, json.loads(text)

    def events(self, most=200, **watched):
        """Yields (event, data) of a stream, at most so many."""
        query = f"?{urllib.parse.urlencode(watched)}" if watched else ""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=30)
        connection.request("GET", f"/api/stream{query}", headers={"Authorization": f"Bearer {self.token}"})
        answer = connection.getresponse()
        assert answer.status == 200, answer.read()
        name = None
        try:
            while most > 0:
                line = answer.readline().decode().rstrip("\n")
                if line.startswith("event: "):
                    name = line[7:]
                elif line.startswith("data: "):
                    most -= 1
                    yield name, json.loads(line[6:])
        finally:
            connection.close()
