# SPDX-License-Identifier: Apache-2.0
"""Reads a Perfetto trace with Perfetto's own Python package. For export_perfetto_test.cc.

trace_processor.py protocol TRACE    with the published protocol: no field may be unknown
trace_processor.py processor TRACE   with the trace processor that PTDS_TRACE_PROCESSOR names: prints slices and flows

Exit status 77: the package, or the trace processor, is not here; which one is the last line of stdout.
"""
import os
import sys
import zlib


def missing(what):
    print(what)
    sys.exit(77)


def protocol(path):
    try:
        from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as trace_pb2
    except ImportError:
        missing("the Python package perfetto is not here (pip install perfetto protobuf)")
    outer, trace, known = trace_pb2.Trace(), trace_pb2.Trace(), trace_pb2.Trace()
    with open(path, "rb") as file:
        outer.ParseFromString(file.read())
    for packet in outer.packet:
        assert packet.HasField("compressed_packets"), packet
        trace.MergeFromString(zlib.decompress(packet.compressed_packets))
    for message in (outer, trace):
        known.CopyFrom(message)
        known.DiscardUnknownFields()
        assert known.SerializeToString() == message.SerializeToString(), "fields that Perfetto does not have"
    print("events", sum(packet.HasField("track_event") for packet in trace.packet))
    print("tracks", sum(packet.HasField("track_descriptor") for packet in trace.packet))


def processor(path):
    binary = os.environ.get("PTDS_TRACE_PROCESSOR", "")
    if not os.access(binary, os.X_OK):
        missing("PTDS_TRACE_PROCESSOR names no trace_processor_shell")
    try:
        from perfetto.trace_processor import TraceProcessor, TraceProcessorConfig
    except ImportError:
        missing("the Python package perfetto is not here (pip install perfetto protobuf)")
    with TraceProcessor(trace=path, config=TraceProcessorConfig(bin_path=binary)) as trace:
        for row in trace.query("select name, value from stats where severity = 'error' and value > 0"):
            sys.exit(f"{row.name}: {row.value}")
        for what, table in (("slices", "slice"), ("flows", "flow"), ("counters", "counter")):
            print(what, next(iter(trace.query(f"select count(*) as n from {table}"))).n)


if __name__ == "__main__":
    {"protocol": protocol, "processor": processor}[sys.argv[1]](sys.argv[2])
