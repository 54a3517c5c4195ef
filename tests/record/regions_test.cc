/* SPDX-License-Identifier: Apache-2.0
 *
 * Regions that threads are in: nested, of several domains, too deep, and begun before anything is recorded.
 */
#include "tests/record/recording.h"

extern "C" {
#include "interpose/env/env.h"
#include "interpose/record/recorder.h"
#include "interpose/record/thread_regions.h"
#include "interpose/record/threads.h"
}

namespace
{

class Regions : public Recording
{
protected:
    static std::string string(uint32_t id)
    {
        for (const std::string &bytes : bytes_of(PTDS_REC_STRING)) {
            ptds_rec_STRING name;
            memcpy(&name, bytes.data(), sizeof name);
            if (name.id == id)
                return bytes.substr(sizeof name).c_str();
        }
        return id ? "?" : "";
    }
    void begin()
    {
        threads_started(&thread_);
    }
    int push(const std::string &name, const char *domain = nullptr)
    {
        return thread_regions_push(&thread_, name.c_str(), domain);
    }
    int pop(const char *domain = nullptr)
    {
        return thread_regions_pop(&thread_, domain);
    }
    /* The innermost one, which calls name. */
    std::string now() const
    {
        return string(thread_.region);
    }
    /* What was recorded: "+name of domain #range" or "-". */
    static std::string recorded()
    {
        std::string text;
        for (const ptds_rec_REGION &one : all<ptds_rec_REGION>(PTDS_REC_REGION)) {
            text += one.name ? "+" + string(one.name) : "-";
            text += one.domain ? " of " + string(one.domain) : "";
            text += (one.range ? " #" : "") + std::string("; ");
            EXPECT_NE(0u, one.ticks);
        }
        return text;
    }
    std::string innermost_of_all()
    {
        std::string text;
        while (thread_.region) {
            text += now() + " ";
            pop();
        }
        return text;
    }
};

TEST_F(Regions, Nested)
{
    begin();
    EXPECT_EQ("", now());
    EXPECT_EQ(1, push("outer"));
    EXPECT_EQ(1, push("inner", "library"));
    EXPECT_EQ("inner@library", now());
    EXPECT_EQ(1, push("again"));
    EXPECT_EQ(1, pop("library"));
    EXPECT_EQ("again", now());
    pop();
    EXPECT_EQ("outer", now());
    pop("library");
    EXPECT_EQ("outer", now()) << "of that domain there is none";
    pop();
    EXPECT_EQ("", now());
    EXPECT_EQ(1, pop());
    EXPECT_EQ("+outer; +inner@library of library; +again; - of library; -; -; ", recorded());
}

/* One in the middle goes, and those around it stay in their order. */
TEST_F(Regions, OfSeveralDomains)
{
    begin();
    for (const char *name : {"a", "b", "c"})
        push(name);
    push("x", "one");
    push("y", "two");
    push("d");
    pop("one");
    EXPECT_EQ("d", now());
    pop();
    EXPECT_EQ("y@two", now());
    pop("two");
    EXPECT_EQ("c b a ", innermost_of_all());
}

/* Deeper than what is kept: ends of what is not kept count, and what is kept is as it was. */
TEST_F(Regions, TooDeep)
{
    begin();
    for (int i = 1; i <= 20; i++)
        push("r" + std::to_string(i));
    EXPECT_EQ("r16", now());
    for (int i = 20; i > 16; i--) {
        pop();
        EXPECT_EQ("r16", now()) << i;
    }
    pop();
    EXPECT_EQ("r15", now());
    EXPECT_EQ("r15 r14 r13 r12 r11 r10 r9 r8 r7 r6 r5 r4 r3 r2 r1 ", innermost_of_all());
}

TEST_F(Regions, JustAsDeepAsIsKept)
{
    begin();
    push("x", "one");
    for (int i = 2; i <= 16; i++)
        push("r" + std::to_string(i));
    pop("one");
    EXPECT_EQ("r16", now());
    pop("one");
    EXPECT_EQ("r16 r15 r14 r13 r12 r11 r10 r9 r8 r7 r6 r5 r4 r3 r2 ", innermost_of_all());
}

/* ---- begun before ---- */

TEST_F(Regions, Early)
{
    EXPECT_EQ(1, push("a"));
    push("x", "one");
    push("b");
    push("c");
    EXPECT_EQ("", recorded()) << "the thread has made no call yet";
    EXPECT_EQ(1, pop("one"));
    pop("two");
    pop();
    begin();
    EXPECT_EQ("+a; +b; ", recorded());
    EXPECT_EQ("b a ", innermost_of_all());
}

/* The one that goes has others of its kind around it. */
TEST_F(Regions, EarlyOfSeveralDomains)
{
    push("x", "one");
    push("a");
    push("y", "one");
    push("b");
    pop("one");
    push("z", "two");
    pop();
    begin();
    EXPECT_EQ("+x@one of one; +a; +z@two of two; ", recorded());
}

TEST_F(Regions, EarlyAndTooDeep)
{
    for (int i = 1; i <= 20; i++)
        push("r" + std::to_string(i));
    pop();
    begin();
    for (int i = 19; i > 16; i--) {
        EXPECT_EQ("r16", now()) << i;
        pop();
    }
    const std::string begun = recorded();
    EXPECT_NE(std::string::npos, begun.find("+r15; +r16; +r16; +r16; +r16; -; -; -; ")) << begun;
    EXPECT_EQ("r16 r15 r14 r13 r12 r11 r10 r9 r8 r7 r6 r5 r4 r3 r2 r1 ", innermost_of_all());
}

TEST_F(Regions, EarlyAndAsDeepAsIsKept)
{
    for (int i = 1; i <= 17; i++)
        push("r" + std::to_string(i));
    pop();
    pop("other");
    begin();
    EXPECT_EQ("r16", now());
}

TEST_F(Regions, EarlyOnesThatAreAllOver)
{
    push("a");
    pop();
    EXPECT_EQ(1, pop()) << "more than there are";
    push("b");
    begin();
    EXPECT_EQ("+b; ", recorded());
}

/* Nobody will want it. */
TEST_F(Regions, NothingWithoutARecord)
{
    recorder_running = 2;
    EXPECT_EQ(0, push("a"));
    EXPECT_EQ(0, pop());
    recorder_running = 1;
    const_cast<struct env *>(env_get())->recording = 0;
    recorder_running = 0;
    EXPECT_EQ(0, push("a"));
    EXPECT_EQ(0, pop());
    recorder_running = 1;
    begin();
    EXPECT_EQ("", recorded());
}

/* ---- long names ---- */

TEST_F(Regions, LongNames)
{
    begin();
    const std::string name(400, 'n'), domain(130, 'd');
    push(name);
    EXPECT_EQ(name, now());
    push(name, domain.c_str());
    EXPECT_EQ(name.substr(0, 380) + "@" + domain.substr(0, 120), now()) << "room for both";
}

TEST_F(Regions, LongNamesThatAreEarly)
{
    const std::string name(120, 'n'), domain(120, 'd');
    push(name, domain.c_str());
    begin();
    EXPECT_EQ(name.substr(0, 111) + "@" + domain.substr(0, 111), now());
}

/* ---- ranges of the process ---- */

TEST_F(Regions, RangesOfTheProcess)
{
    EXPECT_NE(0u, thread_regions_range_start(&thread_, "early", nullptr));
    begin();
    const uint64_t first = thread_regions_range_start(&thread_, "load", nullptr);
    const uint64_t second = thread_regions_range_start(&thread_, "store", "io");
    EXPECT_EQ(first + 1, second);
    EXPECT_EQ("", now());
    thread_regions_range_end(&thread_, first);
    thread_regions_range_end(&thread_, 0);
    EXPECT_EQ("+load #; +store@io of io #; - #; ", recorded());
    EXPECT_EQ(first, last<ptds_rec_REGION>(PTDS_REC_REGION).range);
}

} // namespace
