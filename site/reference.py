"""A page from an OpenAPI description: each operation with its parameters, body and responses."""

import json

METHODS = ("get", "post", "put", "delete")


class Description:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.root = json.load(file)

    def resolved(self, thing):
        """What a reference names. Members beside the reference replace those that it names."""
        while "$ref" in thing:
            found = self.root
            for name in thing["$ref"].removeprefix("#/").split("/"):
                found = found[name]
            thing = {**found, **{key: value for key, value in thing.items() if key != "$ref"}}
        return thing

    def type_of(self, schema):
        schema = self.resolved(schema)
        if "enum" in schema:
            return " or ".join("`%s`" % json.dumps(value) for value in schema["enum"])
        kind = schema.get("type", "any")
        if kind == "array":
            return "array of " + self.type_of(schema["items"])
        low, high = schema.get("minimum"), schema.get("maximum")
        if low is not None or high is not None:
            return "%s, %s to %s" % (kind, grouped(low), grouped(high))
        return kind

    def rows(self, schema, prefix=""):
        """A row of a table for each member, and for those of its objects."""
        schema = self.resolved(schema)
        if schema.get("type") == "array":
            return self.rows(schema["items"], prefix.removesuffix(".") + "[]." if prefix else "")
        needed, rows = schema.get("required", ()), []
        for name, member in schema.get("properties", {}).items():
            member = self.resolved(member)
            rows.append((prefix + name, self.type_of(member), name in needed,
                         member.get("description", "")))
            rows += self.rows(member, prefix + name + ".")
        return rows


def grouped(number):
    return "…" if number is None else "{:,}".format(number)


def table(rows, first):
    yield "| %s | type | | meaning |" % first
    yield "|---|---|---|---|"
    for name, kind, needed, about in rows:
        yield "| `%s` | %s | %s | %s |" % (
            name, kind, "required" if needed else "", about.replace("|", "\\|"))
    yield ""


def operation(description, method, path, shared, content):
    yield "### %s" % content["summary"]
    yield ""
    yield "```http"
    yield "%s %s" % (method.upper(), path)
    yield "```"
    yield ""
    yield content.get("description", "")
    yield ""
    parameters = [description.resolved(each) for each in shared + content.get("parameters", [])]
    if parameters:
        yield from table([(each["name"], description.type_of(each["schema"]),
                           each.get("required", False), each.get("description", ""))
                          for each in parameters], "parameter")
    for kind, body in content.get("requestBody", {}).get("content", {}).items():
        yield from table(description.rows(body["schema"]), "body")
    errors = []
    for status, response in content["responses"].items():
        response = description.resolved(response)
        if status >= "400":
            errors.append(status)
            continue
        yield "**%s**: %s" % (status, response["description"])
        yield ""
        for body in response.get("content", {}).values():
            rows = description.rows(body["schema"])
            if rows:
                yield from table(rows, "response")
    if errors:
        yield "Errors: %s. See [errors](../docs/HTTP.md#errors)." % ", ".join(errors)
        yield ""


def lines(description):
    root = description.root
    yield "# HTTP reference"
    yield ""
    yield ("Every operation of the [HTTP API](../docs/HTTP.md), from its OpenAPI description, "
           "[openapi.json](../docs/openapi.json), which the service has at `/openapi.json`, too.")
    yield ""
    for tag in root["tags"]:
        yield "## %s" % tag["name"]
        yield ""
        for path, item in root["paths"].items():
            for method in METHODS:
                if tag["name"] in item.get(method, {}).get("tags", ()):
                    yield from operation(
                        description, method, path, item.get("parameters", []), item[method])


def page(path):
    return "\n".join(lines(Description(path))) + "\n"
