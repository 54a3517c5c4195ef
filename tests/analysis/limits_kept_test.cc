// SPDX-License-Identifier: Apache-2.0
//
// As limits_test.cc: what is kept at most, threads that end, several contexts, operations that nobody knows.
#include "tests/analysis/limits.h"
#include "analysis/report/default_cost.h"

namespace ptds
{
namespace
{

/* What several calls may still save: so many are kept, and of the oldest nobody knows then. */
TEST(MoreLimits, SavingsOfMoreThreadsThanAreKept)
{
    std::string work, on;
    for (unsigned thread = 1; thread <= 66; thread++) {
        std::string of = std::to_string(thread), at = of + "@" + std::to_string(thread * 1000);
        work += at + " launch s=N" + of + " k=a\n" + of + "@" + std::to_string(thread * 1000 + 10) + "+900 copy s=N" + of +
                " implicit from=device to=pageable bytes=4 site=s" + of + "\n";
        on += of + "@" + std::to_string(100000 + thread * 1000) + " launch s=N" + of + " k=a\n" + of + "@" +
              std::to_string(100010 + thread * 1000) + "+500 sync s=N" + of + "\n";
    }
    Built built(BuildTrace(work + on));
    std::string unknown;
    unsigned known = 0;
    for (const finding *one : built.Of("sync-copy")) {
        EXPECT_EQ(1u, one->known + one->unknown);
        unknown += one->unknown != 0 ? std::to_string(one->sets[FINDING_THREADS].id[0]) + " " : "";
        known += one->known != 0 && one->host_ns == 880000;
    }
    EXPECT_EQ("1 2 ", unknown);
    EXPECT_EQ(64u, known);
    const std::string two = "1@0 launch s=N1 k=a\n1@1 launch s=N2 k=a ctx=2\n";
    Hold("blocking-free",
         {{"one place, two contexts",
           two + "1@10+5000 free ptr=0x1000\n1@5020+3000 free ptr=0x1000 ctx=2\n1@9000 launch s=N1 k=b\n",
           "0 warning 2 ? #1,2 streams_at_once=1"},
          {"nothing came after", two + "1@10+5000 free ptr=0x1000\n1@5020+3000 free ptr=0x1000 ctx=2\n", ""}});
    Hold("sync-copy",
         {{"it goes on at once, and waits",
           "1@0 launch s=N1 k=a\n1@10+900 copy s=N1 implicit from=device to=pageable bytes=4\n1@910 launch s=N1 k=a\n"
           "1@910+800 sync s=N1\n",
           ""}});
}

/* A wait for all of a context of which nobody knows how long it took; streams that are made in two contexts, of which one's
 * default stream is used. */
TEST(MoreLimits, WaitsCountTheStreamsOfTheirOwnContext)
{
    const std::string two = "1@0 launch s=N1 k=a\n1@1 launch s=N2 k=a\n";
    Hold("device-wide-sync", {{"two streams", two + "1@10 ctx-sync\n", "0 warning 1 ? #1,2 streams_at_once=2"},
                              {"one", "1@0 launch s=N1 k=a\n1@10 ctx-sync\n", ""}});
    const std::string used = "1@20 launch s=B1 k=a\n1@30 launch s=L k=a\n";
    Hold("blocking-stream-created",
         {{"of which the first uses it",
           "1@0+10 stream-create s=B1 flags=0 site=a\n1@11+5 stream-create s=B2 ctx=2 flags=0 site=b\n" + used,
           "0 note 1 ?"},
          {"of which the second does",
           "1@0+10 stream-create s=B2 ctx=2 flags=0 site=b\n1@11+5 stream-create s=B1 flags=0 site=a\n" + used,
           "0 note 1 ?"},
          {"none", "1@0+10 stream-create s=B2 ctx=2 flags=0 site=b\n" + used, ""}});
}

/* So many waits are followed at once; then the oldest is given up. */
TEST(MoreLimits, WaitsThatAreFollowed)
{
    auto waits = [](unsigned count) {
        std::string text;
        for (unsigned i = 1; i <= count; i++)
            text += "1@" + std::to_string(i) + "+1 alloc m=M" + std::to_string(i) + " ptr=" + std::to_string(i * 65536) +
                    " bytes=64\n";
        for (unsigned round = 0; round < 2; round++)
            for (unsigned i = 1; i <= count; i++) {
                std::string at = std::to_string(1000 * (round * count + i)),
                            later = std::to_string(1000 * (round * count + i) + 10);
                text += "1@" + at + " launch s=N" + std::to_string(i) + " k=a args=M" + std::to_string(i) + "\n1@" + later +
                        (round == 0 ? "+900" : "+3") + " sync s=N" + std::to_string(i) + " site=" +
                        (round != 0             ? "last"
                         : i == 1 && count == 9 ? "forgotten"
                                                : "each") +
                        "\n";
            }
        Built built(BuildTrace(text));
        std::string found;
        for (const finding *one : built.Of("useless-sync"))
            found += std::to_string(one->stack) + "x" + std::to_string(one->count) + " ";
        return found;
    };
    EXPECT_EQ("1x8 ", waits(8));
    EXPECT_EQ("2x8 ", waits(9)) << "of nine the first one is forgotten, and no other";
}

/* A thread that ends while something is pending, at the very moment of a call that waits for it, or with its process. */
TEST(MoreLimits, ThreadEndsBeforeItsWorkIsWaitedFor)
{
    const std::string work = "2@10 alloc-async s=P2 ptr=0x10000 bytes=64\n2@20 launch s=P2 k=a\nthread-end 2@30\n";
    Hold("thread-end", {{"before the wait", work + "1@31+5 ctx-sync\n", "0 warning 1 ? #1"},
                        {"as it begins", work + "1@30+5 ctx-sync\n", "0 warning 1 ? #1"},
                        {"after it", work + "1@29+5 ctx-sync\n1@40 none\n", ""}});
    auto with_process = [](uint32_t what, uint64_t microseconds) {
        TraceBuilder builder;
        ptds_rec_PROCESS process = {};
        process.what = what;
        process.ticks = microseconds * 1000;
        process.record.kind = PTDS_REC_PROCESS;
        builder.Definition(PTDS_REC_PROCESS, &process, sizeof process);
        builder.Stream(1, PTDS_STREAM_PER_THREAD, 1, 2);
        builder.ThreadGone(2, 30000);
        CallSpec call;
        call.thread = 2;
        call.enter = 10000;
        call.op = PTDS_OP_ALLOC_ASYNC;
        call.stream = 1;
        call.words = {0x10000, 64, PTDS_MEMORY_POOL};
        builder.Call(call);
        return Built(builder.Bytes()).Of("thread-end").size();
    };
    EXPECT_EQ(0u, with_process(PTDS_PROCESS_EXIT, 29));
    EXPECT_EQ(0u, with_process(PTDS_PROCESS_EXIT, 30));
    EXPECT_EQ(1u, with_process(PTDS_PROCESS_EXIT, 31));
    EXPECT_EQ(1u, with_process(PTDS_PROCESS_EXIT + 1, 29)) << "something else";
}

/* Functions and operations that this version does not know may fail because of a capture, too. */
TEST(MoreLimits, OperationsThatNobodyKnowsBreakACaptureAllTheSame)
{
    for (uint32_t op : {uint32_t{PTDS_OP_NONE}, 63u, 64u, 200u}) {
        TraceBuilder builder;
        CallSpec call;
        call.op = op;
        call.result = 900;
        builder.Call(call);
        EXPECT_EQ(1u, Built(builder.Bytes()).Of("capture-conflict").size()) << op;
    }
}

/* A wait for a thread's own work is known to have cost something only at its next wait, after others' later ones. That one
 * is quick, by which 3.071 us count as usual. */
TEST(MoreLimits, WaitsThatAreKnownLate)
{
    auto most = [](const std::string &text) {
        Built report(BuildTrace(text));
        return default_cost_of(report.get()).most_ns;
    };
    const std::string
        own = "1@0 launch s=B1 k=a\n1@10+900 copy s=L implicit from=device to=pageable bytes=4\n1@1000 launch s=N9 k=a\n",
        settled = "1@9000+3 sync s=N9\n", end = "1@20000 none\n";
    auto others = [](unsigned at) {
        auto text = [](unsigned us) { return std::to_string(us); };
        return "3@" + text(at - 20) + " launch s=B2 k=b\n3@" + text(at - 10) + " launch s=L k=b\n2@" + text(at) +
               "+800 sync s=L\n";
    };
    EXPECT_EQ(880000u, most(own + settled + end));
    EXPECT_EQ(780000u, most(others(3000) + end));
    EXPECT_EQ(1560000u, most(others(3000) + others(5000) + end));
    EXPECT_EQ(880000u + 796929, most(own + others(3000) + settled + end));
    EXPECT_EQ(880000u + 2 * 796929, most(own + others(3000) + others(5000) + settled + end));
    EXPECT_EQ(880000u + 3 * 796929, most(own + others(3000) + others(5000) + others(7000) + settled + end));
}

/* Findings about the default stream are those whose streams are, or may be: one that is not known, or is not told. */
TEST(MoreLimits, FindingsThatMayBeAboutTheDefaultStream)
{
    Built built(BuildTrace("1@0 launch s=N1 k=a\n1@1 launch s=L k=a\n"));
    auto goes = [&](std::vector<uint32_t> streams, bool more) {
        struct finding finding = {};
        for (uint32_t stream : streams)
            finding_add(&finding, FINDING_STREAMS, stream);
        finding.sets[FINDING_STREAMS].more = more;
        struct removed_question about = {};
        about.by = REMOVED_WITH_LEGACY;
        about.finding = &finding;
        return std::string(removed_keys[removed_by_policy(&built->trace.defs, &about, REMOVED_UNDER_GUARDED)]);
    };
    EXPECT_EQ("no", goes({}, false));
    EXPECT_EQ("no", goes({1}, false));
    EXPECT_EQ("maybe", goes({1}, true));
    EXPECT_EQ("maybe", goes({2}, false));
    EXPECT_EQ("maybe", goes({1, 2}, false));
    EXPECT_EQ("maybe", goes({1, 7}, false));
}

/* A wait that another one follows sooner than it lasted belongs with it. */
TEST(MoreLimits, WaitsThatFollowEachOther)
{
    auto together = [](unsigned apart) {
        std::string text = "1@0 launch s=N1 k=a\n1@0 launch s=N2 k=a\n";
        unsigned at = 10;
        for (unsigned i = 0; i < 3; i++) {
            std::string us = std::to_string(at), next = std::to_string(at + 900 + apart),
                        last = std::to_string(at + 1890 + apart);
            text += "1@" + us + "+900 copy s=N1 implicit from=device to=pageable bytes=4 site=one\n1@" +
                    std::to_string(at + 901) + " launch s=N2 k=a\n1@" + next +
                    "+900 copy s=N2 implicit from=device to=pageable bytes=4 site=two\n1@" + last + " launch s=N1 k=a\n";
            at += 5000;
        }
        Built built(BuildTrace(text + "1@" + std::to_string(at) + "+900 sync s=N1\n"));
        return built->sequences.count;
    };
    EXPECT_EQ(1u, together(100));
    EXPECT_EQ(1u, together(879));
    EXPECT_EQ(0u, together(880)) << "as long as the first one's wait";
}

/* An event that was made in every way, recorded so often, waited for or not: what it keeps a time for, and whether a wait
 * before its first recording can be said to be for nothing. */
TEST(MoreLimits, EventsByHowTheyWereMade)
{
    for (const char *maker : {"cuEventCreate", "cuIpcOpenEventHandle"})
        for (unsigned flags = 0; flags < 8; flags++)
            for (unsigned records : {15, 16, 17})
                for (unsigned how = 0; how < 16; how++) {
                    const bool early = how & 1, late = how & 2, elapsed = how & 4, destroyed = how & 8;
                    std::string text =
                        "1@0 event-create e=E flags=" + std::to_string(flags) + " api=" + maker + " site=made\n";
                    if (early)
                        text += "1@1 wait s=N2 e=E site=early\n";
                    text += Each(10, records, 1, "record s=N1 e=E");
                    if (late)
                        text += "1@40 wait s=N2 e=E site=late\n";
                    text +=
                        std::string(elapsed ? "1@41 elapsed e=E\n" : "") + (destroyed ? "1@42 event-destroy e=E\n" : "");
                    const bool own = std::string(maker) == "cuEventCreate" && !(flags & 4);
                    std::string found, timing;
                    if (own && early) /* who waits again after it has recorded begins a ring */
                        found = late ? "3 note 1 ?" : "0 warning 1 ?";
                    if (own && !(flags & 2) && records >= 16 && (early || late) && !elapsed)
                        timing = "2 note 1 ? records=" + std::to_string(records);
                    if (!found.empty() && !timing.empty()) /* it was made before it was waited for */
                        found = late ? timing + "; " + found : found + "; " + timing;
                    else
                        found += timing;
                    EXPECT_EQ(found, Of("event-misuse", text)) << text;
                }
}

} // namespace
} // namespace ptds
