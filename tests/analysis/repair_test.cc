// SPDX-License-Identifier: Apache-2.0
//
// The event waits that a program needs under per-thread, of small traces whose answer is known. Random programs are held
// against CUDA's rules in tests/oracle/repair_test.py.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analysis/repair/repair.h"
#include "analysis/views/repair/repair_text.h"
#include "analysis/views/repair/repair_words.h"
#include "tests/analysis/support.h"

namespace ptds
{
namespace
{

const char *const memory = "1@0+1 alloc ptr=0x100000 bytes=4096 m=A site=make\n1@2+1 alloc ptr=0x200000 bytes=4096 m=B\n"
                           "1@4+1 alloc ptr=0x300000 bytes=4096 m=C\n1@6+1 alloc-host ptr=0x900000 bytes=4096 m=H\n";

class Repaired
{
public:
    explicit Repaired(const std::string &text, size_t most = 10) : trace_(memory + text)
    {
        EXPECT_EQ(0, trace_.status) << trace_.error;
        EXPECT_EQ(0, repair_of(&found, trace_.get(), ORDER_PER_THREAD));
        TextOf out;
        repair_text(trace_.get(), &found, nullptr, most, &out);
        said = out.text;
    }
    ~Repaired()
    {
        repair_end(&found);
    }
    Repaired(const Repaired &) = delete;

    /* "needed 10>20", by the calls' microseconds; "host" before what the host waits before, ">>" what it waits after. */
    std::string Waits() const
    {
        std::vector<std::string> lines;
        for (size_t i = 0; i < found.places.count; i++) {
            const repair_place &place = found.places.items[i];
            static const char *const ways[] = {">", ">host ", ">>"};
            lines.push_back(std::string(place.verdict == VERDICT_NEEDED ? "needed " : "maybe ") +
                            std::to_string(place.first.ticks / 1000) + ways[place.at] +
                            std::to_string(place.second.ticks / 1000) +
                            (place.waits != 1 ? " x" + std::to_string(place.waits) : ""));
        }
        std::sort(lines.begin(), lines.end());
        std::string text;
        for (const std::string &line : lines)
            text += (text.empty() ? "" : "; ") + line;
        return text;
    }

    bool Says(const std::string &what) const
    {
        return said.find(what) != std::string::npos;
    }

    struct repair found;
    std::string said;

private:
    struct Built : ptds::Built {
        explicit Built(const std::string &text)
            : ptds::Built(
                  BuildTrace((text.find("setting policy") == std::string::npos ? "setting policy=observe\n" : "") + text))
        {
        }
    } trace_;
};

/* Every line has another call site. */
TEST(Repair, AnOrderBetweenThreadsNeedsAWait)
{
    Repaired run("1@10 memset s=L dst=A bytes=64 site=put\n2@20 copy s=L src=A dst=B bytes=64 site=take\n");
    EXPECT_EQ("needed 10>20", run.Waits());
    EXPECT_FALSE(run.found.partly || run.found.wide) << run.said;
    for (const char *what :
         {"1 wait needed, between 1 pair of call sites", "#1 needed, 1 of 1 time\n", "record an event after   ",
          "wait for it before      ", "64 bytes from 0x100000: first written, then read",
          "allocated             at prog+0x10", "All of these waits are needed"})
        EXPECT_TRUE(run.Says(what)) << what << "\n" << run.said;
}

TEST(Repair, HundredsOfCallSites)
{
    std::string text;
    for (unsigned i = 0; i < 300; i++) {
        std::string at = std::to_string(10 + i * 20), then = std::to_string(20 + i * 20),
                    after = std::to_string(22 + i * 20);
        text += "1@" + at + " memset s=L dst=A bytes=64 site=put" + at + "\n2@" + then +
                " copy s=L src=A dst=B bytes=64 site=take" + at + "\n2@" + after + "+2 sync s=L\n";
    }
    Repaired run(text);
    EXPECT_EQ(300u, run.found.places.count);
    EXPECT_EQ(0u, run.found.unplaced);
}

TEST(Repair, WhatPerThreadKeepsNeedsNone)
{
    EXPECT_EQ("", Repaired("1@10 memset s=L dst=A bytes=64\n1@20 copy s=L src=A dst=B bytes=64\n").Waits()) << "one thread";
    EXPECT_EQ("", Repaired("1@10 memset s=L dst=A bytes=64\n1@12 record s=L e=E\n2@14 wait s=L e=E\n"
                           "2@20 copy s=L src=A dst=B bytes=64\n")
                      .Waits())
        << "an event";
    EXPECT_EQ("", Repaired("1@10 memset s=L dst=A bytes=64\n1@12+5 sync s=L\n2@20 copy s=L src=A dst=B bytes=64\n").Waits())
        << "a wait of the host";
    EXPECT_EQ("", Repaired("1@10 memset s=L dst=A bytes=64\n2@20 copy s=L src=C dst=B bytes=64\n").Waits())
        << "other memory";
    EXPECT_EQ("", Repaired("1@10 memset s=L dst=A bytes=64\n2@20 copy s=L explicit src=A dst=B bytes=64\n").Waits())
        << "0x1 stays the legacy stream, which comes after the threads' own";
    Repaired none("1@10 memset s=L dst=A bytes=64\n");
    EXPECT_TRUE(none.Says("nothing to mend: per-thread keeps all orders")) << none.said;
}

/* What a thread puts on 0x1 stays on the legacy stream: its wait for 0 no longer is one for that. */
TEST(Repair, TheTwoNamesOfTheDefaultStreamPart)
{
    EXPECT_EQ("needed 10>30", Repaired("1@10 memset s=L explicit dst=A bytes=64 site=a\n1@20+5 sync s=L\n"
                                       "1@30 copy s=N2 src=A dst=B bytes=64 site=b\n")
                                  .Waits());
    EXPECT_EQ("", Repaired("1@10 memset s=L explicit dst=A bytes=64\n1@20+5 sync s=L explicit\n"
                           "1@30 copy s=N2 src=A dst=B bytes=64\n")
                      .Waits());
}

TEST(Repair, AStreamThatWaitedForLegacyWorkNeedsAWaitInEitherDirection)
{
    /* Blocking and per-thread streams have no order with each other. */
    EXPECT_EQ("needed 10>20; needed 20>30", Repaired("1@10 memset s=L dst=A bytes=64 site=a\n"
                                                     "1@20 copy s=B1 src=A dst=B bytes=64 site=b\n"
                                                     "1@30 copy s=L src=B dst=C bytes=64 site=c\n")
                                                .Waits());
}

TEST(Repair, WhatOtherWaitsImplyIsLeftOut)
{
    /* 10 before 30, too; but that is what 10 before 20 and 20 before 30 make. */
    EXPECT_EQ("needed 10>20; needed 20>30", Repaired("1@10 memset s=L dst=A bytes=64 site=a\n"
                                                     "2@20 copy s=L src=A dst=B bytes=64 site=b\n"
                                                     "3@30 copy s=L src=B dst=A bytes=64 site=c\n")
                                                .Waits());
    /* Of two operations of a stream the later one brings the earlier. */
    EXPECT_EQ("needed 12>20", Repaired("1@10 memset s=L dst=A bytes=64 site=a\n1@12 memset s=L dst=B bytes=64 site=b\n"
                                       "2@20 copy s=L src=A dst=B bytes=64 site=c\n")
                                  .Waits());
    /* And what comes after one that waited has waited. */
    EXPECT_EQ("needed 10>20", Repaired("1@10 memset s=L dst=A bytes=64 site=a\n2@20 copy s=L src=A dst=B bytes=64 site=b\n"
                                       "2@22 copy s=L src=A dst=C bytes=64 site=c\n")
                                  .Waits());
    /* What an event brings over was behind a wait itself. */
    EXPECT_EQ("needed 10>20",
              Repaired("1@10 memset s=L dst=A bytes=64 site=a\n2@20 copy s=L src=A dst=B bytes=64 site=b\n"
                       "2@22 record s=L e=E\n3@24 wait s=L e=E\n3@26 copy s=L src=A dst=C bytes=64 site=c\n")
                  .Waits());
}

/* A wait brings what the operation came after then, not what its stream came after later. */
TEST(Repair, AWaitBringsNoMoreThanItsEventKnew)
{
    EXPECT_EQ("needed 10>14; needed 10>20; needed 12>20", Repaired("1@10 memset s=L dst=A bytes=64 site=a\n"
                                                                   "2@12 memset s=L dst=B bytes=64 site=b\n"
                                                                   "2@14 copy s=L src=A dst=C bytes=64 site=c\n"
                                                                   "3@20 copy s=L src=A dst=B bytes=64 site=d\n")
                                                              .Waits());
}

TEST(Repair, WaitsThatAreNeededDoWithoutThoseThatMayBe)
{
    /* 10, 20 and 30 in a row, but for 20 nobody sees what it writes: 10 before 30 is needed by itself. */
    Repaired run("1@10 memset s=L dst=A bytes=64 site=a\n2@20 launch s=L k=k args=A,B site=b\n"
                 "3@30 copy s=L src=A dst=B bytes=64 site=c\n");
    EXPECT_EQ("maybe 10>20; maybe 20>30; needed 10>30", run.Waits());
    EXPECT_EQ(1u, run.found.needed);
    EXPECT_EQ(2u, run.found.maybe_needed);
    EXPECT_EQ(0u, run.said.find("Repair: ")) << run.said;
    EXPECT_LT(run.said.find("#1 needed"), run.said.find("#2 maybe needed, 1 of 1 time")) << run.said;
    EXPECT_TRUE(run.Says("maybe, because          both sides use")) << run.said;
    EXPECT_TRUE(run.Says("1 wait needed, 2 maybe needed, between 3 pairs of call sites")) << run.said;
}

TEST(Repair, WhatTheHostReadsNeedsAWaitOfTheHost)
{
    Repaired run(
        "1@10 copy s=L src=A dst=H to=pinned bytes=64 site=a\n2@20+5 sync s=L site=b\n2@40 memset s=L dst=B bytes=4\n");
    EXPECT_EQ("maybe 10>>20", run.Waits());
    EXPECT_TRUE(run.Says("host waits for it after ")) << run.said;
    EXPECT_TRUE(run.Says("cuEventSynchronize")) << run.said;
    EXPECT_EQ("maybe 10>>20", Repaired("1@10 copy s=L src=A dst=H to=pinned bytes=64\n2@20+5 sync s=L\n"
                                       "2@40 launch s=L k=k args=A\n")
                                  .Waits())
        << "and who comes later has waited, too";
    EXPECT_EQ("", Repaired("1@10 copy s=L src=A dst=H to=pinned bytes=64\n1@20+5 sync s=L\n").Waits())
        << "its own thread's";
    /* ... but not what the first thread waits for in the same call: until that returns it can tell nobody of it, and then
     * it is done. What it submitted before, it can. */
    const std::string own = "1@11+20 copy s=L implicit src=A dst=H to=pinned bytes=64\n",
                      waits = "2@20+5 sync s=L\n2@40 none\n";
    EXPECT_EQ("", Repaired(own + waits).Waits());
    EXPECT_EQ("", Repaired("1@1+5 copy s=L implicit src=A dst=H to=pinned bytes=64\n" + own + waits).Waits());
    EXPECT_EQ("maybe 11>>20", Repaired("1@10 copy s=L src=B dst=H to=pinned bytes=64\n" + own + waits).Waits());
    EXPECT_EQ("", Repaired("1@10 launch s=L k=_Z1aPf args=A\n" + own + waits).Waits()) << "device memory";
    EXPECT_EQ("maybe 10>>20", Repaired("1@10 copy s=L src=A dst=H to=pinned bytes=64\n2@20+5 sync s=L\n1@22+10 sync s=L\n"
                                       "3@40 none\n2@41 memset s=L dst=B bytes=4\n")
                                  .Waits())
        << "the thread that waited too soon may read before the other one's wait has returned, whatever is called next";
    EXPECT_EQ("", Repaired("1@10 copy s=L src=A dst=B bytes=64\n2@20+5 sync s=L\n").Waits()) << "out of the host's reach";
}

/* The per-thread form of a copy from pageable memory returns before it is done. */
TEST(Repair, ASynchronousCopyNoLongerWaitsForItself)
{
    EXPECT_EQ("needed 10>40", Repaired("1@10+20 copy s=L implicit from=pageable dst=A bytes=64 site=a\n"
                                       "2@40 copy s=L src=A dst=B bytes=64 site=b\n")
                                  .Waits());
    EXPECT_EQ("", Repaired("1@10+20 copy s=L implicit src=H from=pinned dst=A bytes=64 site=a\n"
                           "2@40 copy s=L src=A dst=B bytes=64 site=b\n")
                      .Waits())
        << "pinned";
    EXPECT_EQ("needed 30>60", Repaired("1@10 copy s=L src=B dst=C bytes=64 site=a\n"
                                       "1@30+20 copy s=L implicit from=pageable dst=A bytes=64 site=b\n"
                                       "2@60 copy s=L src=A dst=C bytes=64 site=c\n")
                                  .Waits())
        << "which it waits for, is done";
}

TEST(Repair, WhatTheShimWaitedForTheProgramDoesNot)
{
    EXPECT_EQ("needed 10>40", Repaired("2@10 memset s=L dst=A bytes=64 site=a\n2@20+5 memset s=L dst=B bytes=64 shim-wait\n"
                                       "2@40 copy s=B1 src=A dst=C bytes=64 site=b\n")
                                  .Waits());
}

/* In the run the host had waited for the stream that is gone. */
TEST(Repair, AStreamThatIsGoneIsNotDoneForThat)
{
    EXPECT_EQ("needed 10>50", Repaired("1@10 memset s=B1 dst=A bytes=64 site=a\n2@20+5 sync s=L\nstream-gone B1@30\n"
                                       "1@40 launch s=N9 k=n args=B\n1@42 record s=N9 e=E\n2@44 wait s=L e=E\n"
                                       "2@50 copy s=L src=A dst=C bytes=64 site=b\n")
                                  .Waits());
}

/* The second write of the stream races with the reader; the first, which nobody remembers by then, was in order. */
TEST(Repair, AnOlderAccessBehindARaceMayBeInOrder)
{
    Repaired run(
        "1@10 memset s=B1 dst=A bytes=64 site=a\n1@12 launch s=L k=n args=B site=b\n1@13 record s=L e=E\n"
        "1@14 memset s=B1 dst=A bytes=64 site=c\n1@16 wait s=N2 e=E\n1@20 copy s=N2 src=A dst=C bytes=64 site=d\n");
    EXPECT_EQ("maybe 10>20", run.Waits());
}

TEST(Repair, SaysHowOftenAndOfWhom)
{
    std::string text;
    for (unsigned i = 0; i < 5; i++) {
        unsigned at = 100 + i * 100;
        text += std::to_string(1 + i % 2) + "@" + std::to_string(at) + " memset s=L dst=A bytes=64 site=put\n";
        if (i == 2)
            text += std::to_string(1 + i % 2) + "@" + std::to_string(at + 10) + "+5 sync s=L site=sync\n";
        text += "3@" + std::to_string(at + 20) + " copy s=L src=A dst=B bytes=64 site=take\n3@" + std::to_string(at + 30) +
                "+5 sync s=L site=sync\n";
    }
    Repaired run(text);
    EXPECT_EQ("needed 100>120 x4", run.Waits());
    EXPECT_TRUE(run.Says("#1 needed, 4 of 5 times")) << run.said;
    EXPECT_TRUE(run.found.places.items[0].more_firsts);
    EXPECT_FALSE(run.found.places.items[0].more_seconds);
    EXPECT_TRUE(run.Says("several threads or streams")) << run.said;
    EXPECT_TRUE(run.Says("each needs an event of its own")) << run.said;
    EXPECT_TRUE(Repaired(text, 0).Says("and 1 pair more of call sites: --all")) << run.said;
}

TEST(Repair, SaysWhereItDoesNotKnow)
{
    Repaired run("recycled\n1@10 memset s=L dst=A bytes=64\n2@20 copy s=L src=C dst=B bytes=64\n");
    EXPECT_TRUE(run.found.partly);
    EXPECT_TRUE(run.Says("waits may be missing here")) << run.said;
    Repaired lost("1@10 launch s=L k=a\nlost 1@20 launch s=L k=a\n");
    EXPECT_TRUE(lost.found.partly) << "though no order that is known asks for what is missing";
    EXPECT_TRUE(lost.Says("nothing found to mend")) << lost.said;
    Repaired unseen("1@8 alloc m=T ptr=0x80 bytes=64 kind=array\n1@10 copy s=L ptr=0x80 to=array src=A bytes=64\n"
                    "2@20 copy s=L ptr=0x80 to=array src=B bytes=64\n");
    EXPECT_EQ("maybe 10>20", unseen.Waits());
    EXPECT_FALSE(unseen.Says("0x4000")) << "no address of its own making: " << unseen.said;
}

/* Of what is on streams beyond those that are followed, nothing is known. */
TEST(Repair, MoreStreamsThanAreFollowedMakeItPartial)
{
    std::string many, few;
    for (int i = 1; i <= 1200; i++)
        (i <= 40 ? few : many) += "1@" + std::to_string(20 + i) + " launch s=N" + std::to_string(i) + " k=a args=A\n";
    EXPECT_FALSE(Repaired(few).found.partly);
    EXPECT_TRUE(Repaired(few + many).found.partly);
}

/* Of waits at one place the first that names a memory is shown. */
TEST(Repair, APlaceShowsAMemoryWhereOneOfItsWaitsHasOne)
{
    const char *const opaque =
        "1@20 launch s=B1 k=a opaque site=one\n1@22 launch s=L k=b args=B site=two\n1@30+9 ctx-sync\n";
    const char *const shared =
        "1@40 launch s=B1 k=a args=A site=one\n1@42 launch s=L k=b args=A site=two\n1@50+9 ctx-sync\n";
    const char *const again =
        "1@60 launch s=B1 k=a opaque site=one\n1@62 launch s=L k=b args=B site=two\n1@70+9 ctx-sync\n";
    for (const std::string &text : {std::string(opaque) + shared + again, std::string(shared) + opaque + again}) {
        Repaired run(text);
        ASSERT_EQ(1u, run.found.places.count) << run.said;
        EXPECT_EQ(3u, run.found.places.items[0].waits) << run.said;
        EXPECT_EQ(0x100000u, run.found.places.items[0].pair.address) << run.said;
    }
}

/* Under strict the program's own races were ordered, and the waits that do so are what mends it. */
TEST(Repair, OfARunUnderStrictHasWhatTheProgramForgot)
{
    const char *const races = "1@10 memset s=N1 dst=A bytes=64 site=put\n1@20 copy s=N2 src=A dst=B bytes=64 site=take\n";
    EXPECT_EQ("", Repaired(races).Waits()) << "no order of today's is lost";
    Repaired strict(std::string("setting policy=strict\n") + races);
    EXPECT_EQ("needed 10>20", strict.Waits());
    EXPECT_TRUE(
        strict.Says("The run was under strict: conflicts that the program itself leaves without an order are listed, too."))
        << strict.said;
    EXPECT_TRUE(strict.Says("64 bytes from 0x100000: first written, then read")) << strict.said;
    EXPECT_FALSE(Repaired(races).Says("strict"));
    EXPECT_EQ("needed 10>20; needed 40>50",
              Repaired(std::string("setting policy=strict\n") + races +
                       "1@40 memset s=L dst=C bytes=64\n2@50 copy s=L src=C dst=H to=pinned bytes=64\n")
                  .Waits())
        << "beside what per-thread would lose";
    EXPECT_EQ("maybe 10>20", Repaired("setting policy=strict\n1@10 launch s=N1 k=_Z5writePf args=A\n"
                                      "1@20 launch s=N2 k=_Z4moreePf args=A\n")
                                 .Waits())
        << "what a kernel does with it can't be seen";
    EXPECT_EQ("",
              Repaired(std::string("setting policy=strict\n") + "1@10 memset s=N1 dst=A bytes=64\n1@12 record s=N1 e=E\n"
                                                                "1@14 wait s=N2 e=E\n1@20 copy s=N2 src=A dst=B bytes=64\n")
                  .Waits())
        << "the program's own event";
}

} // namespace
} // namespace ptds
