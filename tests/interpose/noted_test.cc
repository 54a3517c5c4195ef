/* SPDX-License-Identifier: Apache-2.0
 *
 * What the recorder notes of each form of copy, memset and allocation, against what CUDA's manual says that the form
 * touches, written down here by hand. noted_child.cc makes the calls in this order.
 */
#include <sstream>

#include "tests/interpose/recorded.h"

namespace ptds
{
namespace
{

struct Range {
    std::string name;
    uint64_t address, bytes;
};

class Noted : public testing::Test
{
protected:
    static void SetUpTestSuite()
    {
        if (is_sanitized)
            return;
        recorded_ = new Recorded(record_of("noted_child", {}));
        std::istringstream lines(recorded_->outcome.out);
        for (Range one; lines >> one.name >> one.address >> one.bytes;)
            ranges_.push_back(one);
    }
    void SetUp() override
    {
        ASSERT_EQ(9u, ranges_.size());
    }
    /* "D+3" of an address; other words are numbers. */
    static std::string word(uint64_t value)
    {
        for (const Range &range : ranges_)
            if (value >= range.address && value < range.address + range.bytes)
                return range.name + "+" + std::to_string(value - range.address);
        return std::to_string(value);
    }
    static ptds_rec_CALL head(const std::string &bytes)
    {
        ptds_rec_CALL call;
        memcpy(&call, bytes.data(), sizeof call);
        return call;
    }
    /* "cuMemcpy dst src width ... (kinds)", of each call of the kind, in the order in which they were made. */
    static std::vector<std::string> noted(uint8_t op)
    {
        std::vector<std::string> lines;
        for (const std::string &bytes : recorded_->calls_bytes(op)) {
            ptds_rec_CALL call = head(bytes);
            std::string line = recorded_->trace.names.at(call.api);
            for (uint64_t value : words_of(bytes))
                line += " " + word(value);
            lines.push_back(line + " (" + std::to_string(call.kinds & 15) + " " + std::to_string(call.kinds >> 4) + ")");
        }
        return lines;
    }
    static Recorded *recorded_;
    static std::vector<Range> ranges_;
};
Recorded *Noted::recorded_;
std::vector<Range> Noted::ranges_;

void expect_lines(const std::vector<std::string> &wanted, const std::vector<std::string> &seen)
{
    for (size_t i = 0; i < wanted.size() && i < seen.size(); i++)
        EXPECT_EQ(wanted[i], seen[i]) << "call " << i + 1;
    EXPECT_EQ(wanted.size(), seen.size());
}

/* Words: dst, src, width, height, dst pitch, src pitch, and where slices lie apart how many bytes each side has. The kinds,
 * destination and source: 1 pageable, 2 pinned, 4 device. */
TEST_F(Noted, EachFormOfCopyIsNotedWithItsRanges)
{
    expect_lines(
        {
            "cuMemcpyHtoD_v2 D+1 H+2 3 1 3 3 (4 1)",
            "cuMemcpyDtoH_v2 P+4 D+5 6 1 6 6 (2 4)",
            "cuMemcpyDtoD_v2 O+65535 D+65535 1 1 1 1 (4 4)",
            "cuMemcpyHtoDAsync_v2 D+0 P+0 65536 1 65536 65536 (4 2)",
            "cuMemcpyDtoHAsync_v2 H+7 O+0 8 1 8 8 (1 4)",
            "cuMemcpyDtoDAsync_v2 D+9 O+10 11 1 11 11 (4 4)",
            "cuMemcpy D+12 O+13 14 1 14 14 (4 4)",
            "cuMemcpyAsync D+15 P+16 17 1 17 17 (4 2)",
            "cuMemcpyPeer D+18 O+19 20 1 20 20 (4 4)",
            "cuMemcpyPeerAsync D+21 O+22 23 1 23 23 (4 4)",
            "cuMemcpy2D_v2 D+131 O+133 40 4 64 128 (4 4)",
            "cuMemcpy2DUnaligned_v2 D+131 O+133 40 4 64 128 (4 4)",
            "cuMemcpy2DAsync_v2 D+89 P+133 40 4 43 128 (4 2)", /* 2 rows of 43, and 3 */
            "cuMemcpy2D_v2 H+103 O+50 40 4 50 45 (1 4)",       /* 1 row of 45, and 5 */
            /* 3 slices of 10 rows of 64, 2 rows, 1 byte; to the last byte: 4 slices of 10 rows, 3 rows, 16 bytes. */
            "cuMemcpy3D_v2 D+2049 O+0 16 20 64 32 2768 0 (4 4)",
            "cuMemcpy3DAsync_v2 D+769 O+0 16 20 64 32 (4 4)",
            "cuMemcpy3D_v2 D+769 O+384 16 20 64 32 0 880 (4 4)",
            "cuMemcpy3DPeer D+2049 O+0 16 20 64 32 2768 0 (4 4)",
            "cuMemcpy3DPeerAsync D+2049 O+39 16 20 64 32 2768 752 (4 4)",
        },
        noted(PTDS_OP_COPY));
}

/* Words: dst, width in bytes, height, pitch: 0 of a single row. */
TEST_F(Noted, EachFormOfMemsetIsNotedWithItsRange)
{
    expect_lines(
        {
            "cuMemsetD8_v2 D+1 2 1 0 (4 0)",
            "cuMemsetD16_v2 D+4 6 1 0 (4 0)",
            "cuMemsetD32_v2 D+8 20 1 0 (4 0)",
            "cuMemsetD8Async O+65535 1 1 0 (4 0)",
            "cuMemsetD16Async O+0 14 1 0 (4 0)",
            "cuMemsetD32Async O+0 36 1 0 (4 0)",
            "cuMemsetD2D8_v2 D+0 11 3 100 (4 0)",
            "cuMemsetD2D16_v2 D+0 24 4 200 (4 0)",
            "cuMemsetD2D32_v2 D+0 52 5 300 (4 0)",
            "cuMemsetD2D8Async D+0 14 6 110 (4 0)",
            "cuMemsetD2D16Async D+0 30 7 210 (4 0)",
            "cuMemsetD2D32Async D+0 64 8 320 (4 0)",
            "cuMemsetD8_v2 P+6 4 1 0 (2 0)",
        },
        noted(PTDS_OP_MEMSET));
}

/* Words: where, bytes, kind (device 4, pinned 2, managed 6, registered 3). Of a pitched one all rows. */
TEST_F(Noted, EachFormOfAllocationIsNotedWithItsSize)
{
    std::vector<std::string> seen = noted(PTDS_OP_ALLOC);
    std::string pitched = std::to_string(ranges_[6].bytes);
    std::vector<std::string> ours;
    for (const std::string &line : seen)
        if (line.find("+0 ") != std::string::npos) /* the module's variables are nobody's here */
            ours.push_back(line.substr(0, line.find(" (")));
    expect_lines(
        {
            "cuMemAlloc_v2 D+0 65536 4",
            "cuMemAlloc_v2 O+0 65536 4",
            "cuMemAllocHost_v2 P+0 65536 2",
            "cuMemHostAlloc more+0 1000 2",
            "cuMemAllocManaged managed+0 3000 6",
            "cuMemAllocPitch_v2 pitched+0 " + pitched + " 4",
            "cuMemHostRegister_v2 registered+0 8192 3",
        },
        ours);
    EXPECT_EQ((std::vector<std::string>{"cuMemAllocAsync pooled+0 500 5 (0 0)"}), noted(PTDS_OP_ALLOC_ASYNC));
}

/* The first 20 bytes of the program's build id, which has 24. */
TEST_F(Noted, TheBuildIdAsFarAsThereIsRoom)
{
    unsigned found = 0;
    for (const auto &[kind, bytes] : recorded_->trace.records) {
        ptds_rec_OBJECT object;
        if (kind != PTDS_REC_OBJECT ||
            std::string(bytes.substr(sizeof object).c_str()).find("noted_child") == std::string::npos)
            continue;
        memcpy(&object, bytes.data(), sizeof object);
        EXPECT_EQ(20u, object.build_id_size);
        for (unsigned i = 0; i < 20; i++)
            EXPECT_EQ(i, object.build_id[i]);
        found++;
    }
    EXPECT_EQ(1u, found);
}

/* What frees a memory names the very one: no other has its uid. */
TEST_F(Noted, FreesNameWhatWasAllocated)
{
    std::map<uint32_t, std::string> names;
    for (uint8_t op : {PTDS_OP_ALLOC, PTDS_OP_ALLOC_ASYNC})
        for (const std::string &bytes : recorded_->calls_bytes(op)) {
            EXPECT_NE(0u, head(bytes).object);
            EXPECT_TRUE(names.emplace(head(bytes).object, word(words_of(bytes)[0])).second);
        }
    for (const auto &[op, name] : std::map<uint8_t, std::string>{{PTDS_OP_FREE, "managed+0"},
                                                                 {PTDS_OP_FREE_HOST, "more+0"},
                                                                 {PTDS_OP_UNREGISTER, "registered+0"},
                                                                 {PTDS_OP_FREE_ASYNC, "pooled+0"}}) {
        std::vector<std::string> frees = recorded_->calls_bytes(op);
        ASSERT_EQ(1u, frees.size()) << name;
        EXPECT_EQ(name, word(words_of(frees[0])[0]));
        EXPECT_EQ(name, names[head(frees[0]).object]);
    }
}

} // namespace
} // namespace ptds
