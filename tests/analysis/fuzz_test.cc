// SPDX-License-Identifier: Apache-2.0
//
// Real traces, cut and changed at random (the seeds are fixed), through everything that reads a trace. Run under the
// address and undefined-behaviour sanitizers by scripts/check. Nothing may crash or hang; what is damaged is said with its
// offset; what is left is still read.
#include <gtest/gtest.h>

#include <sys/mman.h>
#include <unistd.h>

#include <map>
#include <random>

#include "tests/analysis/whole.h"
#include "tests/support/run_child.h"

namespace ptds
{
namespace
{

/* Regions of two domains and device times, which the recorded programs have none of. */
std::string Measured()
{
    std::string text = "monotonic\n", runs;
    for (unsigned i = 0; i < 40; i++) {
        std::string call = std::to_string(1 + i % 2) + "@" + std::to_string(100 + i * 20);
        text += call + " region step" + std::to_string(i % 3) + (i % 4 == 0 ? " domain=lib" : "") + "\n";
        text += call + "+4 launch s=L" + (i % 2 != 0 ? " to=P2" : "") + " k=a\n";
        runs += "device-run " + call + " " + std::to_string(150 + i * 20) + "+15\n";
        if (i % 5 != 0)
            text += std::to_string(1 + i % 2) + "@" + std::to_string(110 + i * 20) + " region-end" +
                    (i % 4 == 0 ? " domain=lib" : "") + "\n";
    }
    return BuildTrace(text + runs);
}

/* Recorded by the build, from programs that no sanitizer has changed; and one that is made up. */
const char *const recorded[] = {"overlap", "mixed_threads", "mixed_streams", "stream_handover"};
const size_t TRACES = std::size(recorded) + 1;

const std::vector<std::string> &Traces()
{
    static std::vector<std::string> traces;
    if (!traces.empty())
        return traces;
    for (const char *name : recorded)
        traces.push_back(read_file(data_file(std::string("tests/analysis/recorded/") + name + ".ptds")));
    traces.push_back(Measured());
    return traces;
}

/* The trace in a file in memory that is changed and put right again. */
class Image
{
public:
    explicit Image(const std::string &bytes)
        : bytes_(bytes), fd_(memfd_create("trace", MFD_CLOEXEC)), scratch_(WriteTemporary(""))
    {
        Write(0, bytes);
    }
    ~Image()
    {
        close(fd_);
        unlink(scratch_.c_str());
    }
    Image(const Image &) = delete;

    void Write(size_t at, const std::string &piece)
    {
        ASSERT_EQ(static_cast<ssize_t>(piece.size()), pwrite(fd_, piece.data(), piece.size(), static_cast<off_t>(at)));
    }
    void Restore(size_t at, size_t size)
    {
        Write(at, bytes_.substr(at, size));
    }
    void Cut(size_t size)
    {
        ASSERT_EQ(0, ftruncate(fd_, static_cast<off_t>(size)));
    }
    Whole Read(bool sqlite = false)
    {
        return ReadWhole(("/proc/self/fd/" + std::to_string(fd_)).c_str(), sqlite, scratch_.c_str());
    }

private:
    const std::string &bytes_;
    int fd_;
    std::string scratch_;
};

/* Where there is something: the header, its schema text, the chunks' headers and records. */
struct Place {
    size_t at, size;
};

class Layout
{
public:
    explicit Layout(const std::string &bytes)
    {
        ptds_trace_header header;
        memcpy(&header, bytes.data(), sizeof header);
        places.push_back({0, sizeof header});
        if (header.schema_size != 0)
            places.push_back({header.schema_offset, header.schema_size});
        for (size_t at = header.header_size; at + sizeof(ptds_chunk) <= bytes.size(); at += header.chunk_size) {
            ptds_chunk chunk;
            memcpy(&chunk, &bytes[at], sizeof chunk);
            if (chunk.magic != PTDS_CHUNK_MAGIC || chunk.kind == PTDS_CHUNK_FREE)
                continue;
            places.push_back({at, sizeof chunk + chunk.committed});
            if (chunk.kind == PTDS_CHUNK_CALLS)
                Calls(bytes, at + sizeof chunk, chunk.committed);
        }
    }

    /* How many calls end at or before this offset. */
    size_t Before(size_t offset) const
    {
        size_t count = 0;
        for (size_t end : call_ends)
            count += end <= offset;
        return count;
    }

    std::vector<Place> places;
    std::vector<size_t> call_ends;

private:
    void Calls(const std::string &bytes, size_t from, size_t size)
    {
        for (size_t at = from; at < from + size;) {
            ptds_record record;
            memcpy(&record, &bytes[at], sizeof record);
            at += record.size;
            if (record.kind == PTDS_REC_CALL)
                call_ends.push_back(at);
        }
    }
};

void ExpectItIsSaid(const Whole &whole, const std::string &what)
{
    if (!whole.readable) {
        EXPECT_NE(std::string::npos, whole.trouble.find("offset ")) << what << ": " << whole.trouble;
    } else if (whole.damaged != 0) {
        EXPECT_NE(std::string::npos, whole.text.find("  offset ")) << what << "\n" << whole.text;
    }
}

TEST(Fuzz, TracesAreSoundToBeginWith)
{
    size_t findings = 0;
    for (const std::string &bytes : Traces()) {
        Whole whole = Image(bytes).Read(true);
        EXPECT_TRUE(whole.readable) << whole.trouble;
        EXPECT_EQ(0u, whole.damaged);
        findings += whole.ids.size();
        EXPECT_EQ(Layout(bytes).call_ends.size(), whole.recorded);
    }
    EXPECT_NE(0u, findings);
}

/* Each trace by itself: the shards of this test read them side by side. */
class Fuzzed : public ::testing::TestWithParam<size_t>
{
protected:
    explicit Fuzzed(size_t trace) : bytes(Traces()[trace]), layout(bytes), image(bytes)
    {
    }

    const std::string &bytes;
    const Layout layout;
    Image image;
};

/* How many changes of each trace. Where a sanitizer looks, it sees more in each; elsewhere a test has less time. */
#ifdef __SANITIZE_ADDRESS__
const unsigned VARIANTS = 250;
#else
const unsigned VARIANTS = 40;
#endif

class Cut : public Fuzzed
{
protected:
    Cut() : Fuzzed(GetParam())
    {
    }
};
INSTANTIATE_TEST_SUITE_P(Traces, Cut, ::testing::Range<size_t>(0, TRACES));

TEST_P(Cut, AnywhereKeepsWhatIsBefore)
{
    std::mt19937_64 random(bytes.size());
    for (unsigned i = 0; i < VARIANTS; i++) {
        const Place &place = layout.places[random() % layout.places.size()];
        size_t size = place.at + random() % (place.size + 1);
        image.Cut(size);
        Whole whole = image.Read(i % 50 == 0);
        image.Cut(bytes.size());
        image.Restore(size, bytes.size() - size);
        std::string what = "cut at " + std::to_string(size);
        ExpectItIsSaid(whole, what);
        EXPECT_EQ(size >= sizeof(ptds_trace_header), whole.readable) << what;
        EXPECT_EQ(whole.readable ? layout.Before(size) : 0, whole.recorded) << what;
        if (whole.readable && size < layout.places.back().at + layout.places.back().size) {
            EXPECT_NE(0u, whole.damaged + whole.lost_chunks) << what << ", and nothing says so";
        }
    }
    EXPECT_EQ(layout.call_ends.size(), image.Read().recorded) << "the image was put right again";
}

/* One of the usual accidents: a few bytes, a whole number of a kind that is dangerous, a piece from elsewhere, zeros. */
std::string Mutate(std::mt19937_64 *random, const std::string &bytes, size_t at, size_t room)
{
    static const uint64_t numbers[] = {0,      1,          7,          8,          0x7f,     0x80,       0xff,
                                       0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 1u << 20, UINT64_MAX, INT64_MAX};
    unsigned how = static_cast<unsigned>((*random)() % 4);
    size_t size = std::min<size_t>(room, 1 + (*random)() % (how == 3 ? 200 : 8));
    std::string piece = bytes.substr(at, size);
    if (how == 0) {
        for (char &byte : piece)
            byte = static_cast<char>((*random)());
    } else if (how == 1) {
        uint64_t number = numbers[(*random)() % (sizeof numbers / sizeof numbers[0])];
        memcpy(&piece[0], &number, std::min(size, sizeof number));
    } else if (how == 2) {
        piece[(*random)() % size] ^= static_cast<char>(1 << (*random)() % 8);
    } else {
        size_t from = (*random)() % 2 == 0 ? bytes.size() : (*random)() % (bytes.size() - size);
        piece = from == bytes.size() ? std::string(size, '\0') : bytes.substr(from, size);
    }
    return piece;
}

const size_t ROUNDS = 3, RUNS = ROUNDS * TRACES;

class Changed : public Fuzzed
{
protected:
    Changed() : Fuzzed(GetParam() / ROUNDS)
    {
    }
};
INSTANTIATE_TEST_SUITE_P(Traces, Changed, ::testing::Range<size_t>(0, RUNS));

TEST_P(Changed, AnywhereNeverCrashes)
{
    unsigned unreadable = 0, damaged = 0;
    std::mt19937_64 random(bytes.size() + 1 + GetParam() % ROUNDS);
    for (unsigned i = 0; i < VARIANTS; i++) {
        std::vector<Place> changes;
        std::string what = "changed at";
        for (uint64_t count = 1 + random() % 4; count != 0; count--) {
            const Place &place = layout.places[random() % layout.places.size()];
            size_t into = random() % place.size, at = place.at + into;
            std::string piece = Mutate(&random, bytes, at, place.size - into);
            image.Write(at, piece);
            changes.push_back({at, piece.size()});
            what += " " + std::to_string(at);
        }
        Whole whole = image.Read(i % 50 == 0);
        ExpectItIsSaid(whole, what);
        unreadable += !whole.readable;
        damaged += whole.damaged != 0;
        for (const Place &change : changes)
            image.Restore(change.at, change.size);
    }
    EXPECT_EQ(layout.call_ends.size(), image.Read().recorded) << "the image was put right again";
    EXPECT_GT(damaged, VARIANTS / 20) << "the changes hit something";
    EXPECT_LT(unreadable, VARIANTS / 2) << "and leave something to read";
    RecordProperty("unreadable", static_cast<int>(unreadable));
    RecordProperty("damaged", static_cast<int>(damaged));
}

TEST(Fuzz, DamageInOneChunkLeavesTheFindingsOfTheOthers)
{
    const std::string &bytes = Traces()[0];
    Layout layout(bytes);
    Image image(bytes);
    size_t chunks = 0;
    for (size_t i = 2; i < layout.places.size(); i++) {
        ptds_chunk chunk;
        memcpy(&chunk, &bytes[layout.places[i].at], sizeof chunk);
        if (chunk.kind != PTDS_CHUNK_CALLS || chunk.committed == 0)
            continue;
        chunks++;
        size_t at = layout.places[i].at + sizeof chunk, end = at + chunk.committed;
        image.Write(at + offsetof(ptds_record, size), std::string(2, '\0')); /* its first record has no size */
        Whole whole = image.Read();
        image.Restore(at, sizeof(ptds_record));
        size_t inside = layout.Before(end) - layout.Before(at);
        EXPECT_EQ(1u, whole.damaged);
        EXPECT_EQ(layout.call_ends.size() - inside, whole.recorded) << "exactly this chunk's calls are gone";
        EXPECT_NE(std::string::npos, whole.text.find("  offset " + std::to_string(at) + ": ")) << whole.text;
        EXPECT_NE(0u, whole.ids.size());
    }
    EXPECT_GE(chunks, 4u) << "a chunk a thread";
}

} // namespace
} // namespace ptds
