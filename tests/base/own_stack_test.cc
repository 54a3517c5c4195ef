/* SPDX-License-Identifier: Apache-2.0
 *
 * A thread's own stack, as its maker gave it.
 */
#include <gtest/gtest.h>

#include <cerrno>
#include <functional>
#include <pthread.h>
#include <vector>

extern "C" {
#include "interpose/base/own_stack.h"
}

namespace
{

struct Found {
    int known = -1;
    const char *low = nullptr, *high = nullptr;
    bool is_here = false; /* it is what the thread ran on */
};

void *find(void *into)
{
    Found *found = static_cast<Found *>(into);
    const void *low, *high;
    char here;
    errno = ENOTTY;
    found->known = own_stack(&low, &high);
    EXPECT_EQ(ENOTTY, errno);
    found->low = static_cast<const char *>(low), found->high = static_cast<const char *>(high);
    found->is_here = &here >= found->low && &here < found->high;
    return nullptr;
}

Found of_thread(const std::function<void(pthread_attr_t *)> &prepare)
{
    Found found;
    pthread_attr_t about;
    pthread_t thread;
    pthread_attr_init(&about);
    prepare(&about);
    EXPECT_EQ(0, pthread_create(&thread, &about, find, &found));
    pthread_join(thread, nullptr);
    pthread_attr_destroy(&about);
    return found;
}

TEST(OwnStack, OfTheFirstThread)
{
    Found found;
    find(&found);
    EXPECT_EQ(0, found.known);
}

TEST(OwnStack, OfAThread)
{
    const size_t size = 1 << 20;
    const Found found = of_thread([](pthread_attr_t *about) { pthread_attr_setstacksize(about, size); });
    EXPECT_EQ(1, found.known);
    EXPECT_TRUE(found.is_here);
    EXPECT_EQ(long(size), found.high - found.low);
}

TEST(OwnStack, ThatTheProgramHasMade)
{
    const size_t size = 4 << 20; /* with room for a sanitizer's own */
    std::vector<char> room(size + 4096);
    char *at = room.data() + 4096 - reinterpret_cast<uintptr_t>(room.data()) % 4096;
    const Found found = of_thread([=](pthread_attr_t *about) { pthread_attr_setstack(about, at, size); });
    EXPECT_EQ(1, found.known);
    EXPECT_TRUE(found.is_here);
    EXPECT_EQ(at, found.low);
    EXPECT_EQ(at + size, found.high);
}

} // namespace
