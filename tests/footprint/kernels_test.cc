/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels that are forgotten: what is remembered of others in their place.
 */
#include <gtest/gtest.h>

extern "C" {
#include "interpose/footprint/modules/kernel_table.h"
}

namespace
{

const kernel *find(uintptr_t handle)
{
    return kernel_table_find(thread_get(), reinterpret_cast<CUfunction>(handle));
}

/* Another thread may be launching one of another context's that does not end. */
TEST(Kernels, AreNotAnothersAsSoonAsAContextHasEnded)
{
    const kernel *first = find(0x1000), *second = find(0x2000);
    ASSERT_NE(first, nullptr);
    EXPECT_NE(first, second);
    EXPECT_EQ(find(0x1000), first);
    kernel_table_forget(nullptr);
    const kernel *anew = find(0x1000), *other = find(0x3000);
    for (const kernel *one : {first, second}) {
        EXPECT_NE(anew, one);
        EXPECT_NE(other, one);
    }
    EXPECT_EQ(first->handle, 0x1000u);
    kernel_table_forget(nullptr);
    const kernel *late = find(0x4000);
    EXPECT_TRUE(late == first || late == second) << "no more of them than two contexts have";
    EXPECT_EQ(anew->handle, 0x1000u);
}

} // namespace
