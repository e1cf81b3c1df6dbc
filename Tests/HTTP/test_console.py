"""The files of the console at /console/."""

import os
import re

from api import Case

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../clients/console")

POLICY = ("default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
          "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")

TYPES = {".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8",
         ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}


class Console(Case):
    def file(self, name, method="GET", **headers):
        return self.ask(method, "/console/" + name, key=None, headers=headers)

    def check_fields(self, answer):
        fields = answer.headers
        self.assertEqual(fields["Content-Security-Policy"], POLICY)
        self.assertEqual(fields["Referrer-Policy"], "no-referrer")
        self.assertEqual(fields["Cross-Origin-Opener-Policy"], "same-origin")
        self.assertEqual(fields["Cross-Origin-Resource-Policy"], "same-origin")
        self.assertEqual(fields["X-Content-Type-Options"], "nosniff")
        self.assertEqual(fields["Cache-Control"], "no-cache")
        self.assertIsNone(fields["Access-Control-Allow-Origin"])

    def test_all_files_are_served_without_a_key(self):
        names = os.listdir(FOLDER)
        self.assertIn("index.html", names)
        for name in names:
            with open(os.path.join(FOLDER, name), "rb") as file:
                answer = self.file(name, Host="presence.example.com")
                self.assertEqual((answer.status, answer.body), (200, file.read()), name)
            self.assertEqual(answer.headers["Content-Type"], TYPES[os.path.splitext(name)[1]])
            self.check_fields(answer)

    def test_the_folder_is_the_page(self):
        answer = self.file("")
        self.assertEqual((answer.status, answer.body), (200, self.file("index.html").body))
        self.check_fields(answer)

    def test_the_page_loads_only_files_that_are_there(self):
        text = self.file("").body.decode()
        names = re.findall(r'(?:src|href)="([^"]*)"', text)
        self.assertIn("console.js", names)
        for name in names:
            if not name.startswith(("#", "data:")):
                self.assertEqual(self.file(name).status, 200, name)
        # The policy would reject them.
        self.assertNotRegex(text, r"<style|<script>|\sstyle=|\son[a-z]+=")

    def test_other_paths_lead_to_the_page(self):
        for path in ("/", "/console"):
            for method in ("GET", "HEAD"):
                answer = self.ask(method, path, key=None)
                self.assertEqual((answer.status, answer.body), (308, b""), path)
                self.assertEqual(answer.headers["Location"], "/console/")
                self.assertEqual(answer.headers["Cache-Control"], "no-store")

    def test_a_file_that_the_client_has_is_not_sent_again(self):
        tag = self.file("console.js").headers["ETag"]
        self.assertRegex(tag, r'^"[0-9a-f]{32}"$')
        for method in ("GET", "HEAD"):
            answer = self.file("console.js", method, **{"If-None-Match": tag})
            self.assertEqual((answer.status, answer.body), (304, b""))
            self.assertEqual(answer.headers["ETag"], tag)
            self.check_fields(answer)
        self.assertEqual(self.file("console.js", **{"If-None-Match": '"x"'}).status, 200)

    def test_head(self):
        get, head = self.file(""), self.file("", "HEAD")
        self.assertEqual((head.status, head.body), (200, b""))
        for name in ("Content-Length", "Content-Type", "ETag", "Content-Security-Policy"):
            self.assertEqual(head.headers[name], get.headers[name])

    def test_other_names_and_methods(self):
        for name in ("none.js", "Console.js", "console%2Ejs", "..%2Fconsole.js", "console.js/"):
            answer = self.file(name)
            self.assertEqual((answer.status, answer.reason), (404, "not_found"), name)
        for path in ("/console/", "/console", "/"):
            rejected = self.problem(405, "method_not_allowed", "POST", path, {}, key=None)
            self.assertEqual(rejected.headers["Allow"], "GET, HEAD")


class Off(Case):
    flags = ("--console", "off")

    def test_nothing_is_there(self):
        for path in ("/", "/console", "/console/", "/console/console.js"):
            answer = self.problem(404, "not_found", "GET", path, key=None)
            self.assertIn("`console`", answer.json["detail"], path)
