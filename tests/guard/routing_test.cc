/* SPDX-License-Identifier: Apache-2.0
 *
 * Where calls are asked about the short way at all: it knows one lane a thread, and does not look who calls.
 */
#include <gtest/gtest.h>

extern "C" {
#include "interpose/env/env.h"
#include "interpose/guard/guard.h"
#include "interpose/policy/policy.h"
}

namespace
{

/* As if the program had been started with these. */
bool quick_with(const struct env &wanted)
{
    struct env *env = const_cast<struct env *>(env_get());
    const struct env before = *env;
    *env = wanted;
    policy_choose();
    *env = before;
    return routing.quick != 0;
}

struct env guarded()
{
    struct env env = *env_get();
    env.policy = ENV_POLICY_guarded;
    env.lanes = 1;
    env.exclude = env.include = nullptr;
    return env;
}

TEST(Routing, QuickUnderPolicyGuarded)
{
    struct env env = guarded();
    EXPECT_TRUE(quick_with(env));
    EXPECT_TRUE(guard_on);
    for (const auto policy : {ENV_POLICY_none, ENV_POLICY_observe, ENV_POLICY_per_thread, ENV_POLICY_stream}) {
        env.policy = policy;
        EXPECT_FALSE(quick_with(env)) << policy;
    }
}

TEST(Routing, NotWhereWorkSpreads)
{
    struct env env = guarded();
    env.lanes = 4;
    EXPECT_FALSE(quick_with(env));
}

TEST(Routing, NotWhereSomebodyIsExcluded)
{
    struct env env = guarded();
    env.exclude = "libother.so";
    EXPECT_FALSE(quick_with(env));
    env = guarded();
    env.include = "libmine.so";
    EXPECT_FALSE(quick_with(env));
}

} // namespace
