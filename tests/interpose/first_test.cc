/* SPDX-License-Identifier: Apache-2.0
 *
 * GPU times of the first operation of threads that begin with a call of the runtime, on a CUPTI that behaves as the real
 * one.
 */
#include <algorithm>
#include <set>

#include "tests/interpose/recorded.h"

namespace ptds
{
namespace
{

constexpr unsigned THREADS = 6;

/* The sizes of the operations that have times, each of them its own. */
std::set<uint64_t> timed(const std::string &what, const Settings &more = {})
{
    Settings settings = {{"PTDS_DEVICE_TIMES", "cupti"}};
    settings.insert(more.begin(), more.end());
    Recorded recorded = record_of("first_child", {what, std::to_string(THREADS)}, "guarded", settings);
    std::map<uint64_t, uint64_t> sizes; /* by enter */
    std::set<uint64_t> found;
    for (uint8_t op : {PTDS_OP_LAUNCH, PTDS_OP_COPY})
        for (const std::string &bytes : recorded.calls_bytes(op)) {
            ptds_rec_CALL call;
            memcpy(&call, bytes.data(), sizeof call);
            sizes[call.enter] = op == PTDS_OP_COPY ? words_of(bytes)[2] : static_cast<uint32_t>(words_of(bytes)[0]);
        }
    for (const ptds_rec_DEVICE_TIME &time : recorded.all<ptds_rec_DEVICE_TIME>(PTDS_REC_DEVICE_TIME)) {
        uint64_t size = sizes[time.enter];
        EXPECT_EQ(time.end - time.start, size);
        EXPECT_TRUE(found.insert(size).second) << size << " has two times";
    }
    return found;
}

std::set<uint64_t> all(std::initializer_list<unsigned> bases)
{
    std::set<uint64_t> sizes;
    for (unsigned base : bases)
        for (unsigned i = 1; i <= THREADS; i++)
            sizes.insert(base + i);
    return sizes;
}

TEST(FirstOperation, HasItsTimes)
{
    EXPECT_EQ(timed("launch"), all({1000, 3000}));
    EXPECT_EQ(timed("copy"), all({1000}));
    EXPECT_EQ(timed("launch", {{"FAKE_CUPTI_THREADS", "system"}}), all({1000, 3000}));
}

TEST(FirstOperation, HasNoneThatMayBeAnothers)
{
    EXPECT_EQ(timed("two"), all({3000}));
}

/* What else the call did may have come first: then nobody knows. Else it is left out. */
TEST(FirstOperation, IsNotWhatTheCallDidBesides)
{
    for (const char *what : {"loads", "set"}) {
        std::set<uint64_t> some = timed(what), launches = all({1000});
        EXPECT_TRUE(std::includes(launches.begin(), launches.end(), some.begin(), some.end()));
        EXPECT_FALSE(some.empty());
        EXPECT_LT(some.size(), launches.size());
    }
}

} // namespace
} // namespace ptds
