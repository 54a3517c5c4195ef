# SPDX-License-Identifier: Apache-2.0
"""Validates JSON reports against the schema: validate.py SCHEMA REPORT... Called by schema_test.cc.

Readers of a report must accept fields that are newer than their schema. The project's own reports must not have any that the
schema lacks, so for this test every object that says nothing about other fields allows none. Exit status 0 valid, 1 not,
77 no validator here.
"""
import json
import sys


def strict(schema):
    if isinstance(schema, list):
        return [strict(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    out = {key: strict(value) for key, value in schema.items()}
    if "required" in out and isinstance(out.get("properties"), dict):
        out.setdefault("additionalProperties", False)
    return out


def main():
    try:
        import jsonschema
    except ImportError:
        return 77
    with open(sys.argv[1], encoding="utf-8") as file:
        schema = strict(json.load(file))
    validator = jsonschema.validators.validator_for(schema)
    validator.check_schema(schema)
    status = 0
    for path in sys.argv[2:]:
        with open(path, encoding="utf-8") as file:
            report = json.load(file)
        for error in validator(schema).iter_errors(report):
            print(f"{path}: {'/'.join(map(str, error.absolute_path))}: {error.message}"[:400])
            status = 1
    return status


sys.exit(main())
