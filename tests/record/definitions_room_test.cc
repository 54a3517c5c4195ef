/* SPDX-License-Identifier: Apache-2.0
 *
 * How much room definitions take, and what a forked child has of them.
 */
#include "tests/record/recording.h"

extern "C" {
#include "interpose/record/definitions.h"
}

namespace
{

class Room : public Recording
{
protected:
    static size_t chunks_of_definitions()
    {
        size_t found = 0;
        for (uint64_t i = 0; store_chunk_at(i) != nullptr; i++)
            found += store_chunk_at(i)->kind == PTDS_CHUNK_DEFINITIONS;
        return found;
    }
    static size_t memories()
    {
        return all<ptds_rec_MEMORY>(PTDS_REC_MEMORY).size();
    }
    static void define_one()
    {
        ptds_rec_MEMORY memory = {};
        memory.record = {PTDS_REC_MEMORY, sizeof memory, 0};
        memory.uid = 1;
        define_memories(reinterpret_cast<const uint8_t *>(&memory), sizeof memory);
    }
};

/* Its trace is another one: what its parent had named is named again, from 1 on. */
TEST_F(Room, AForkedChildBeginsAgain)
{
    const uint32_t first = define_string(PTDS_ROLE_REGION, "solve"), second = define_string(PTDS_ROLE_REGION, "step");
    EXPECT_EQ(second, first + 1);
    record_after_fork();
    record_start();
    ASSERT_TRUE(record_on());
    EXPECT_EQ(1u, define_string(PTDS_ROLE_REGION, "step"));
    EXPECT_EQ(2u, define_string(PTDS_ROLE_REGION, "solve"));
    EXPECT_EQ((std::vector<std::string>{"step", "solve"}), texts<ptds_rec_STRING>(PTDS_REC_STRING));
}

/* Memories that were rescued have half of the trace with all other definitions; what is beyond that is not written, until
 * as much was refused as there may be: then those that are gone make room. */
TEST_F(Room, MemoriesHaveHalfOfTheTrace)
{
    const size_t most = 32;
    size_t written = 0;
    record_memory_is_there = [](const ptds_rec_MEMORY *) { return 0; };
    while (chunks_of_definitions() < most) {
        define_one();
        written++;
        ASSERT_LT(written, most * PTDS_CHUNK_SIZE / sizeof(ptds_rec_MEMORY));
    }
    EXPECT_EQ(written, memories());
    const size_t refused = most * PTDS_CHUNK_SIZE / sizeof(ptds_rec_MEMORY);
    for (size_t i = 0; i < refused; i++)
        define_one();
    EXPECT_EQ(written, memories()) << "none of them";
    EXPECT_EQ(most, chunks_of_definitions());
    define_one();
    EXPECT_LT(memories(), written) << "none of those is there";
    EXPECT_LT(chunks_of_definitions(), most);
    record_memory_is_there = nullptr;
}

} // namespace
