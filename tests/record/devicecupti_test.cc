/* SPDX-License-Identifier: Apache-2.0
 *
 * Which calls CUPTI is told of, and by which ids.
 */
#include "tests/base/said.h"
#include "tests/record/recording.h"

#include <cerrno>
#include <dlfcn.h>

extern "C" {
#include "interpose/record/device/device_cupti.h"
}

namespace
{

class DeviceCupti : public Recording
{
protected:
    void SetUp() override
    {
        Recording::SetUp();
        ASSERT_TRUE(device_cupti_start());
        void *plugin = dlopen("libptds_cupti.so", RTLD_NOW | RTLD_NOLOAD);
        last_ = static_cast<uint64_t *>(dlsym(plugin, "plugin_last"));
        count_ = static_cast<uint64_t *>(dlsym(plugin, "plugin_count"));
        ASSERT_TRUE(last_ && count_);
        *count_ = 0;
    }
    struct call before(uint32_t thread, uint8_t op = PTDS_OP_LAUNCH)
    {
        struct call call = made();
        thread_.uid = thread;
        call.op = op;
        call.enter = 0x123456789abcdef0;
        errno = ENOTTY;
        device_cupti_before(&call);
        device_cupti_after(&call);
        EXPECT_EQ(ENOTTY, errno);
        return call;
    }
    uint64_t *last_ = nullptr, *count_ = nullptr;
};

/* Of as many threads as an id has room for; that there were more is said once. */
TEST_F(DeviceCupti, IdsAreOfThreadsAndTimes)
{
    Said said;
    EXPECT_TRUE(before(7).flags & PTDS_CALL_TIMED);
    EXPECT_EQ(0x0007'5678'9abc'def0u, *last_);
    before(65535);
    EXPECT_EQ(0xffff'5678'9abc'def0u, *last_);
    EXPECT_EQ(2u, *count_);
    before(65536, PTDS_OP_STREAM_SYNC);
    EXPECT_EQ("", said.text());
    EXPECT_FALSE(before(65536).flags & PTDS_CALL_TIMED);
    EXPECT_EQ("ptds: PTDS_DEVICE_TIMES=cupti: more than 65535 threads have called CUDA; no device times for later ones\n",
              said.text());
    before(65537);
    EXPECT_EQ("", said.text());
    EXPECT_EQ(2u, *count_);
}

} // namespace
