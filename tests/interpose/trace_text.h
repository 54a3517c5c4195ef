/* SPDX-License-Identifier: Apache-2.0
 *
 * A trace as text, to be held against a file: every field of every record that is not 0. What differs from run to run is
 * said by what it stands for: a time by the calls that had begun by then, an address by the memory it lies in ("host" in
 * none that is known), a handle by whose it is, a text by itself. Left out: stacks, loaded objects and clocks, which differ
 * from machine to machine.
 */
#ifndef PTDS_TESTS_TRACE_TEXT_H
#define PTDS_TESTS_TRACE_TEXT_H

#include <algorithm>
#include <sstream>

#include "tests/interpose/recorded.h"

namespace ptds
{

class TraceText
{
public:
    explicit TraceText(const Recorded &recorded) : walk_(recorded.trace), bytes_(recorded.bytes)
    {
        for (const ptds_rec_CALL &call : recorded.all<ptds_rec_CALL>(PTDS_REC_CALL))
            enters_.push_back(call.enter);
        std::sort(enters_.begin(), enters_.end());
        for (const auto &[kind, record] : walk_.records) {
            ptds_rec_STRING text;
            if (kind != PTDS_REC_STRING)
                continue;
            memcpy(&text, record.data(), sizeof text);
            strings_[text.id] = record.substr(sizeof text).c_str();
        }
        for (const ptds_rec_STREAM &stream : recorded.all<ptds_rec_STREAM>(PTDS_REC_STREAM))
            handles_[{PTDS_REC_STREAM, stream.uid}] = stream.handle;
        for (const ptds_rec_CONTEXT &one : recorded.all<ptds_rec_CONTEXT>(PTDS_REC_CONTEXT))
            handles_[{PTDS_REC_CONTEXT, one.uid}] = one.handle;
    }

    std::string all()
    {
        header();
        for (bool definitions : {true, false}) /* how many chunks they take depends on the machine's names */
            for (uint64_t i = 0; i < walk_.header.chunks; i++)
                chunk(PTDS_HEADER_SIZE + i * PTDS_CHUNK_SIZE, definitions);
        std::sort(runs_.begin(), runs_.end());
        for (const auto &[enter, text] : runs_)
            out_ << text << "\n";
        return out_.str();
    }

private:
    const Walk &walk_;
    const std::string &bytes_;
    std::ostringstream out_, line_;
    std::vector<uint64_t> enters_;
    std::map<uint64_t, std::string> strings_;
    std::map<std::pair<uint16_t, uint32_t>, uint64_t> handles_; /* by the kind of record and the uid */
    struct Range {
        uint64_t begin, end;
        uint32_t uid;
    };
    std::vector<Range> ranges_;                          /* the last ones count */
    std::vector<std::pair<uint64_t, std::string>> runs_; /* and times, which come when they like */

    template <class Value> void number(const char *name, Value value)
    {
        if (value)
            line_ << " " << name << "=" << +value;
    }

    /* How many calls had begun by then. */
    std::string moment(uint64_t ticks) const
    {
        return "@" + std::to_string(std::upper_bound(enters_.begin(), enters_.end(), ticks) - enters_.begin());
    }

    std::string address(uint64_t value)
    {
        for (size_t i = ranges_.size(); i-- > 0;)
            if (value >= ranges_[i].begin && value < ranges_[i].end)
                return "m" + std::to_string(ranges_[i].uid) + "+" + std::to_string(value - ranges_[i].begin);
        return value < 16 ? std::to_string(value) : "host";
    }

    /* A field, by what its name says. */
    template <class Value> void field(const std::string &name, const Value &value)
    {
        auto is = [&](std::initializer_list<const char *> names) {
            return std::find(names.begin(), names.end(), name) != names.end();
        };
        if (!value)
            return;
        if (is({"ticks", "enter", "until"}))
            line_ << " " << name << "=" << moment(static_cast<uint64_t>(value));
        else if (is({"address"}))
            line_ << " " << name << "=" << address(static_cast<uint64_t>(value));
        else if (is({"handle"}) && static_cast<uint64_t>(value) >= 16)
            line_ << " handle";
        else if (is({"leave", "begin", "end", "stack", "tid", "pid", "earliest", "latest"}))
            line_ << " " << name;
        else if (is({"name", "region", "domain"}))
            line_ << " " << name << "='" << strings_[static_cast<uint64_t>(value)] << "'";
        else
            number(name.c_str(), value);
    }
    void field(const std::string &, const ptds_b20 &)
    {
    }
    void tail(const std::string &type, const std::string &record, size_t fixed)
    {
        if (type == "char")
            line_ << " '" << record.substr(fixed).c_str() << "'";
    }

    template <class Word> static std::vector<Word> words(const std::string &record, size_t fixed)
    {
        std::vector<Word> found((record.size() - fixed) / sizeof(Word));
        memcpy(found.data(), record.data() + fixed, found.size() * sizeof(Word));
        return found;
    }

    void header()
    {
        const ptds_trace_header &header = walk_.header;
        line_.str("");
        line_ << "header";
        number("version", header.version);
        number("header_size", header.header_size);
        number("chunk_size", header.chunk_size);
        number("call_size", header.call_size);
        number("rank", header.rank);
        number("ranks", header.ranks);
        number("clean_end", header.clean_end);
        number("recycled", header.recycled);
        number("refused", header.refused);
        number("limit", header.limit);
        number("run", header.run);
        number("uncounted", header.uncounted);
        out_ << line_.str() << "\n";
    }

    void chunk(size_t at, bool definitions)
    {
        ptds_chunk head;
        memcpy(&head, bytes_.data() + at, sizeof head);
        if ((head.kind == PTDS_CHUNK_DEFINITIONS) != definitions)
            return;
        line_.str("");
        line_ << "chunk kind=" << head.kind;
        number("thread", head.thread);
        number("holds", head.holds);
        number("lost", head.lost);
        number("ordinal", head.ordinal);
        number("reserved", head.reserved);
        out_ << (definitions ? "" : line_.str() + "\n");
        if (head.kind == PTDS_CHUNK_COUNTS)
            counts(at, head);
        if (head.kind != PTDS_CHUNK_CALLS && head.kind != PTDS_CHUNK_DEFINITIONS)
            return;
        for (size_t from = at + sizeof head; from < at + sizeof head + head.committed;) {
            ptds_record record;
            memcpy(&record, bytes_.data() + from, sizeof record);
            ASSERT_GE(record.size, sizeof record); /* else it would not end */
            one(record.kind, bytes_.substr(from, record.size));
            from += record.size;
        }
    }

    void counts(size_t at, const ptds_chunk &head)
    {
        for (size_t i = 0; i < head.committed / sizeof(ptds_count); i++) {
            ptds_count count;
            memcpy(&count, bytes_.data() + at + sizeof head + i * sizeof count, sizeof count);
            if (!count.calls && !count.failed && !count.remapped && !count.ticks)
                continue;
            line_.str("");
            line_ << "  count " << walk_.names.at(static_cast<uint16_t>(i / 2)) << (i % 2 ? ", twin:" : ":");
            number("calls", count.calls);
            number("failed", count.failed);
            number("remapped", count.remapped);
            line_ << (count.ticks ? " ticks" : "");
            out_ << line_.str() << "\n";
        }
        ptds_default_count defaults;
        memcpy(&defaults, bytes_.data() + at + head.defaults, sizeof defaults);
        line_.str("");
        line_ << "  on default streams:";
        number("legacy", defaults.legacy);
        number("kept", defaults.kept);
        number("failed", defaults.failed);
        out_ << line_.str() << "\n";
        ptds_now now;
        memcpy(&now, bytes_.data() + at + head.now, sizeof now);
        out_ << (now.enter ? "  inside a call\n" : "");
    }

#define u64 uint64_t
#define u32 uint32_t
#define F(type, name, doc) field(#name, record.name);
#define TAIL(type, name, doc) tail(#type, bytes, sizeof record);
#define REC(NAME, id, doc, fields) \
    void text(const ptds_rec_##NAME &record, [[maybe_unused]] const std::string &bytes) \
    { \
        fields \
    }
#include "interpose/trace/records.def"

    void one(uint16_t kind, const std::string &bytes)
    {
        line_.str("");
        switch (kind) {
#define F(type, name, doc)
#define TAIL(type, name, doc)
#define REC(NAME, id, doc, fields) \
    case PTDS_REC_##NAME: { \
        ptds_rec_##NAME record; \
        memcpy(&record, bytes.data(), sizeof record); \
        line_ << "  " #NAME; \
        put(record, bytes); \
        return; \
    }
#include "interpose/trace/records.def"
#undef u64
#undef u32
        }
        out_ << "  a record of kind " << kind << "\n";
    }

    template <class Record> void put(const Record &record, const std::string &bytes)
    {
        text(record, bytes);
        out_ << line_.str() << "\n";
    }
    void put(const ptds_rec_STACK &, const std::string &)
    {
    }
    void put(const ptds_rec_OBJECT &, const std::string &)
    {
    }
    void put(const ptds_rec_CLOCK &, const std::string &)
    {
    }
    void put(const ptds_rec_SOURCE &, const std::string &)
    {
    }
    void put(const ptds_rec_BYPASS &, const std::string &)
    {
    }
    /* But for paths. */
    void put(const ptds_rec_SETTING &record, const std::string &bytes)
    {
        std::string said = bytes.substr(sizeof record).c_str();
        for (const char *own : {"PTDS_TRACE=", "LD_PRELOAD=", "driver_path="})
            if (said.rfind(own, 0) == 0)
                said = own;
        out_ << "  SETTING kind=" << record.kind << " '" << said << "'\n";
    }
    /* Of the functions that were called. */
    void put(const ptds_rec_API &record, const std::string &bytes)
    {
        const std::string name = bytes.substr(sizeof record).c_str();
        if (walk_.counts.at(name))
            out_ << "  API '" << name << "' twin=" << record.twin << " class=" << record.class_ << "\n";
    }
    void put(const ptds_rec_KERNEL &record, const std::string &bytes)
    {
        text(record, bytes);
        std::vector<uint32_t> layout = words<uint32_t>(bytes, sizeof record);
        for (size_t i = 0; i < layout.size() && i < record.params; i++)
            line_ << " " << (layout[i] >> 16) << ":" << (layout[i] & 0xffff);
        out_ << line_.str() << "\n";
    }
    void put(const ptds_rec_HOST_RUN &record, const std::string &bytes)
    {
        EXPECT_LE(record.begin, record.end);
        EXPECT_LE(record.enter, record.begin);
        text(record, bytes);
        runs_.push_back({record.enter, line_.str()});
    }
    void put(const ptds_rec_MEMORY &record, const std::string &bytes)
    {
        ranges_.push_back({record.address, record.address + record.bytes, record.uid});
        text(record, bytes);
        out_ << line_.str() << "\n";
    }

    static std::string flags(uint32_t value)
    {
        static const char *const names[] = {"TWIN",          "TIMED",        "REMAPPED",     "LEGACY",
                                            "EXPLICIT",      "IMPLICIT",     "KEPT_CAPTURE", "KEPT_REFUSED",
                                            "KEPT_EXCLUDED", "KEPT_NO_WAY",  "SHIM_EDGE",    "SHIM_WAIT",
                                            "OPAQUE",        "CAPTURE_OPEN", "CAPTURING",    "HOST_MEMORY"};
        std::string text;
        for (uint32_t i = 0; i < 16; i++)
            if (value & (i < 15 ? 1u << i : unsigned{PTDS_CALL_HOST_MEMORY}))
                text += std::string(text.empty() ? "" : "|") + names[i];
        const uint32_t why = (value & PTDS_CALL_WHY_MASK) >> PTDS_CALL_WHY_SHIFT;
        return text + (why ? " why=" + std::to_string(why) : "");
    }

    void put(const ptds_rec_DEVICE_TIME &record, const std::string &bytes)
    {
        ptds_rec_DEVICE_TIME took = record;
        took.end -= took.start;
        took.start = 0;
        line_ << " ns=" << took.end;
        text(took, bytes);
        runs_.push_back({record.enter, line_.str()});
    }
    void put(const ptds_rec_CALL &call, const std::string &bytes)
    {
        EXPECT_TRUE(!call.leave || call.leave >= call.enter);
        line_.str("");
        line_ << "  " << moment(call.enter) << " " << walk_.names.at(call.api) << " op=" << +call.op;
        number("result", call.result);
        line_ << (call.kinds ? " kinds=" + std::to_string(call.kinds & 15) + "<-" + std::to_string(call.kinds >> 4) : "");
        number("streams", call.streams);
        number("context", call.context);
        number("stream", call.stream);
        number("target", call.target);
        number("object", call.object);
        number("generation", call.generation);
        field("region", call.region);
        line_ << " [" << flags(call.flags) << "]" << (call.leave ? "" : " no-leave") << (call.stack ? "" : " no-stack");
        operands(call, words<uint64_t>(bytes, sizeof call));
        out_ << line_.str() << "\n";
    }

    void operands(const ptds_rec_CALL &call, const std::vector<uint64_t> &operand)
    {
        const bool makes = call.op == PTDS_OP_ALLOC || call.op == PTDS_OP_ALLOC_ASYNC;
        if (makes && operand.size() > 1) /* an array has a handle and no bytes */
            ranges_.push_back({operand[0], operand[0] + std::max<uint64_t>(operand[1], 1), call.object});
        line_ << (operand.empty() ? "" : " :");
        for (size_t i = 0; i < operand.size(); i++)
            line_ << " " << word(call, i, operand[i]);
        const bool ends = call.op == PTDS_OP_FREE || call.op == PTDS_OP_FREE_ASYNC || call.op == PTDS_OP_FREE_HOST ||
                          call.op == PTDS_OP_UNREGISTER || call.op == PTDS_OP_UNMAP || call.op == PTDS_OP_ARRAY_DESTROY;
        for (size_t i = ranges_.size(); ends && !call.result && i-- > 0;)
            if (ranges_[i].uid == call.object)
                ranges_.erase(ranges_.begin() + static_cast<ptrdiff_t>(i));
    }

    std::string whose(uint16_t kind, uint32_t uid, uint64_t handle)
    {
        auto known = handles_.find({kind, uid});
        return known == handles_.end() ? "a handle" : known->second == handle ? "its handle" : "another's handle";
    }

    std::string word(const ptds_rec_CALL &call, size_t i, uint64_t value)
    {
        const uint8_t op = call.op;
        const uint64_t place = value >> PTDS_LAUNCH_ADDRESS_BITS, low = value & PTDS_LAUNCH_ADDRESS_MASK;
        const bool reaches = place == PTDS_REACHES_READ || place == PTDS_REACHES_WRITE;
        const bool may_reach = op == PTDS_OP_LAUNCH || op == PTDS_OP_COPY || op == PTDS_OP_GRAPH_LAUNCH;
        if (may_reach && reaches)
            return (place == PTDS_REACHES_READ ? "reads:" : "writes:") + std::to_string(low);
        if (op == PTDS_OP_LAUNCH && (place == PTDS_PART_BEGIN || place == PTDS_PART_END))
            return (place == PTDS_PART_BEGIN ? "from:" : "to:") + address(low);
        if (op == PTDS_OP_LAUNCH && i >= 3)
            return address(low) + "/" + std::to_string(place);
        if (op == PTDS_OP_LAUNCH) {
            std::ostringstream hex;
            hex << std::hex << value;
            return hex.str();
        }
        if (op == PTDS_OP_STREAM_DESTROY)
            return whose(PTDS_REC_STREAM, call.stream, value);
        if (op == PTDS_OP_CTX_DESTROY)
            return whose(PTDS_REC_CONTEXT, call.context, value);
        if (op == PTDS_OP_HOST_FUNCTION || (op == PTDS_OP_EVENT_CREATE && i == 1) || op == PTDS_OP_GRAPH_UPLOAD)
            return value ? "some" : "0";
        const bool is_address = (i == 0 && op >= PTDS_OP_COPY && op <= PTDS_OP_ATTACH) ||
                                (i == 0 && op >= PTDS_OP_ALLOC && op <= PTDS_OP_ARRAY_DESTROY) ||
                                (i == 1 && op == PTDS_OP_COPY);
        return is_address ? address(value) : std::to_string(value);
    }
};

} // namespace ptds

#endif
