"""The files of the JavaScript SDK at /sdk/."""

import gzip
import os
import re

from api import Case

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../clients/js/src")


class Files(Case):
    def file(self, name, method="GET", **headers):
        return self.ask(method, "/sdk/" + name, key=None, headers=headers)

    def test_all_files_are_served_without_a_key(self):
        parts = [os.path.join("../dist", name) for name in os.listdir(os.path.join(FOLDER, "../dist"))
                 if name.endswith(".js")]
        for path in os.listdir(FOLDER) + parts:
            name = os.path.basename(path)
            with open(os.path.join(FOLDER, path), "rb") as file:
                answer = self.file(name, Host="presence.example.com")
                self.assertEqual((answer.status, answer.body), (200, file.read()), name)
            fields = answer.headers
            self.assertEqual(fields["Content-Type"], "text/javascript; charset=utf-8")
            self.assertEqual(fields["X-Content-Type-Options"], "nosniff")
            self.assertEqual(fields["Access-Control-Allow-Origin"], "*")
            self.assertEqual(fields["Cross-Origin-Resource-Policy"], "cross-origin")
            self.assertEqual(fields["Cache-Control"], "no-cache")

    def test_a_page_gets_everything_that_it_imports(self):
        todo, seen = ["index.js"], set()
        while todo:
            name = todo.pop()
            if name in seen:
                continue
            seen.add(name)
            text = self.file(name).body.decode()
            todo += re.findall(r'^(?:import|export) .*from "\./([^"]*)";$', text, re.M)
        self.assertIn("porchlight.js", seen)
        self.assertNotIn("native.js", seen)

    def test_one_file_has_all_that_a_browser_needs(self):
        with open(os.path.join(FOLDER, "../dist/porchlight.min.js"), "rb") as file:
            expected = file.read()
        plain = self.file("porchlight.min.js")
        self.assertEqual((plain.status, plain.body), (200, expected))
        self.assertNotIn(b"import ", plain.body)
        parts = re.findall(rb'import\("\./([^"]*)"\)', plain.body)
        self.assertIn(b"messages.min.js", parts)
        for part in parts:
            self.assertNotRegex(self.file(part.decode()).body, rb"\bimport\b")
        self.assertIsNone(plain.headers["Content-Encoding"])
        small = self.file("porchlight.min.js", **{"Accept-Encoding": "gzip, br"})
        self.assertEqual(small.headers["Content-Encoding"], "gzip")
        self.assertEqual(gzip.decompress(small.body), expected)
        self.assertLess(len(small.body), 7169)
        for answer in (plain, small):
            self.assertEqual(answer.headers["Vary"], "Accept-Encoding")
            self.assertEqual(answer.headers["Content-Type"], "text/javascript; charset=utf-8")
        self.assertNotEqual(plain.headers["ETag"], small.headers["ETag"])
        again = self.file("porchlight.min.js", **{
            "Accept-Encoding": "gzip", "If-None-Match": small.headers["ETag"]})
        self.assertEqual((again.status, again.body), (304, b""))

    def test_a_file_that_the_client_has_is_not_sent_again(self):
        tag = self.file("index.js").headers["ETag"]
        self.assertRegex(tag, r'^"[0-9a-f]{32}"$')
        for field in (tag, "W/" + tag, '"x", ' + tag, "*"):
            for method in ("GET", "HEAD"):
                answer = self.file("index.js", method, **{"If-None-Match": field})
                self.assertEqual((answer.status, answer.body), (304, b""), field)
                self.assertEqual(answer.headers["ETag"], tag)
                self.assertEqual(answer.headers["Access-Control-Allow-Origin"], "*")
                self.assertEqual(answer.headers["Cache-Control"], "no-cache")
        for field in ('"x"', tag[1:], self.file("node.js").headers["ETag"]):
            self.assertEqual(self.file("index.js", **{"If-None-Match": field}).status, 200)

    def test_a_connection_lives_on_after_304(self):
        connection = self.service.open_http()
        tag = self.file("index.js").headers["ETag"]
        for _ in range(3):
            for fields, status in (({}, 200), ({"If-None-Match": tag}, 304)):
                answer = self.ask("GET", "/sdk/index.js", key=None, headers=fields,
                                  over=connection)
                self.assertEqual(answer.status, status)
        connection.close()

    def test_head(self):
        get, head = self.file("watch.js"), self.file("watch.js", "HEAD")
        self.assertEqual((head.status, head.body), (200, b""))
        for name in ("Content-Length", "Content-Type", "ETag"):
            self.assertEqual(head.headers[name], get.headers[name])

    def test_other_names_and_methods(self):
        for name in ("", "none.js", "Index.js", "index%2Ejs", "..%2Findex.js", "index.js/"):
            answer = self.file(name)
            self.assertEqual((answer.status, answer.reason), (404, "not_found"), name)
        self.assertIn("/sdk/index.js", self.file("none.js").json["detail"])
        rejected = self.problem(405, "method_not_allowed", "POST", "/sdk/index.js", {}, key=None)
        self.assertEqual(rejected.headers["Allow"], "GET, HEAD")

    def test_the_rest_of_the_api_is_not_for_other_origins(self):
        for path in ("/v1/stats", "/livez", "/openapi.json", "/sdk/none.js"):
            answer = self.ask("GET", path, headers={"Origin": "https://example.com"})
            self.assertIsNone(answer.headers["Access-Control-Allow-Origin"], path)
            self.assertEqual(answer.headers["Cache-Control"], "no-store", path)
