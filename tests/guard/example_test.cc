/* SPDX-License-Identifier: Apache-2.0
 *
 * The drawn example of interpose/README.md: what the driver is asked for each of its calls. If this changes, so must the
 * drawing.
 */
#include "tests/guard/script.h"

namespace
{

class Example : public Script
{
};

TEST_F(Example, IsAsDrawn)
{
    struct stream *s = stream("S");
    EXPECT_EQ("L0", writes(a_, &m_)) << "1: thread A's kernel writes m";
    EXPECT_EQ("S", writes(b_, &n_, s)) << "2: a kernel on S writes n: promised to come after 1, which touches other memory";
    EXPECT_EQ("e1 on L0; L1 after e1; L1", reads(b_, &m_)) << "3: thread B's kernel reads m: a conflict with 1";
    EXPECT_EQ("e1 on S; L1 after e1; L1", reads(b_, &n_)) << "4: it reads n: a conflict with 2, and after 1 already";
    EXPECT_EQ("e1 on S; S", writes(a_, &seen_, s)) << "5: S goes on: what 3 and 4 were promised of it gets a mark first";
    EXPECT_EQ("e2 on L0; e3 on S; L0 after e3; L0", syncs(a_))
        << "6: the host waits for thread A's lane, and there for 5, which the host can see; the wait for 3 and 4 is deferred";
}

} // namespace
