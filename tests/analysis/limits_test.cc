// SPDX-License-Identifier: Apache-2.0
//
// Rules and costs at their limits: on one side of each number that decides, and on the other; and where there are more
// streams, threads and contexts than one.
#include "tests/analysis/limits.h"

namespace ptds
{
namespace
{

TEST(Limits, HardwareQueuesFromOneStreamMoreThanThereAreQueues)
{
    auto streams = [](const char *setting, unsigned count, const char *more = "") {
        return (setting[0] != 0 ? "setting CUDA_DEVICE_MAX_CONNECTIONS=" + std::string(setting) + "\n" : "") +
               Each(1, count, 1, "launch s=N% k=a") + more;
    };
    Hold("hardware-queues",
         {{"eight unless it says otherwise", streams("", 8), ""},
          {"the ninth", streams("", 9), "0 note 1 ? #1,2,3,4,5,6,7,8 streams_at_once=9 queues=8"},
          {"one", streams("1", 2), "0 note 1 ? #1 streams_at_once=2 queues=1"},
          {"32", streams("32", 32), ""},
          {"32", streams("32", 33), "0 note 1 ? #1,2,3,4,5,6,7,8 streams_at_once=33 queues=32"},
          {"33 is no number of them", streams("33", 9), "0 note 1 ? #1,2,3,4,5,6,7,8 streams_at_once=9 queues=8"},
          {"0 is none", streams("0", 9), "0 note 1 ? #1,2,3,4,5,6,7,8 streams_at_once=9 queues=8"},
          {"each context has its own", streams("2", 2, "1@50 launch s=N1 k=b ctx=2\n"), ""},
          {"each context has its own",
           streams("2", 3,
                   "1@50 launch s=N1 k=b ctx=2\n1@51 launch s=N2 k=b "
                   "ctx=2\n1@52 launch s=N3 k=b ctx=2\n"),
           "0 note 1 ? #1,2 streams_at_once=3 queues=2; 0 note 1 ? #4,5 streams_at_once=3 queues=2"}});
    std::string contexts = "setting CUDA_DEVICE_MAX_CONNECTIONS=1\n";
    for (unsigned context = 1; context <= 9; context++)
        for (const char *stream : {"N1", "N2"})
            contexts += Each(context, 1, 1, std::string("launch s=") + stream + " k=a ctx=" + std::to_string(context));
    Built report(BuildTrace(contexts));
    EXPECT_EQ(8u, report.Of("hardware-queues").size()) << "of so many contexts";
}

TEST(Limits, DeadlockRiskOfAKernelThatOthersOutlived)
{
    auto beside = [](const std::string &first, unsigned count, const char *other = "N2") {
        return first + Each(10, count, 1, std::string("launch s=") + other + " k=short") + "1@400+30 sync s=" + other +
               "\n1@500+5000 free ptr=0x1000\n";
    };
    const std::string loop = "1@0 launch s=N1 k=unnamed\n";
    Hold("deadlock-risk",
         {{"much came after it", beside(loop, 300), "1 warning 1 ? #1 longest_call_ns=5000000"},
          {"and was done", beside("1@0 launch s=N2 k=short\n1@1+3 sync s=N2\n1@5 launch s=N1 k=unnamed\n", 300),
           "1 warning 1 ? #2 longest_call_ns=5000000"},
          {"the first number of calls", beside(loop, 254), "1 warning 1 ? #1 longest_call_ns=5000000"},
          {"one less", beside(loop, 253), ""},
          {"two streams may run on", beside(loop + "1@1 launch s=N3 k=unnamed\n", 300), ""},
          {"what was done came soon after it",
           loop + Each(10, 128, 1, "launch s=N2 k=short") + "1@200+3 sync s=N2\n" + Each(210, 200, 1, "none") +
               "1@500+5000 free ptr=0x1000\n",
           ""},
          {"one more",
           loop + Each(10, 129, 1, "launch s=N2 k=short") + "1@200+3 sync s=N2\n" + Each(210, 200, 1, "none") +
               "1@500+5000 free ptr=0x1000\n",
           "1 warning 1 ? #1 longest_call_ns=5000000"}});
}

TEST(Limits, DeadlockRiskByName)
{
    auto named = [](const std::string &name) { return "1@0 launch s=N1 k=" + name + "\n1@10+5000 free ptr=0x1000\n"; };
    for (const char *unending : {"persistent", "my_persistent_loop", "_Z10persistentPf", "_ZN2ab10persistentEv",
                                 "_ZN12abcdefghijkl10persistentEv", "ncclKernel_AllReduce", "ncclDevKernel_AllReduce"})
        EXPECT_NE("", Of("deadlock-risk", named(unending))) << unending;
    for (const char *plain : {"_Z4gemmI10persistentEvv", "gemm<persistent>", "gemm(persistent)", "plain"})
        EXPECT_EQ("", Of("deadlock-risk", named(plain))) << plain;
}

TEST(Limits, DeadlockRiskOfACallThatNeverReturned)
{
    auto hung = [](unsigned last) {
        return "1@0 launch s=N1 k=plain\n1@1 launch s=N2 k=plain\nkilled\nin-flight 1@10 ctx-sync\n2@" +
               std::to_string(last) + " none\n";
    };
    Hold("deadlock-risk", {{"a second", hung(1000010), "2 error 1 ? #1,2 longest_call_ns=1000000000"},
                           {"less", hung(1000009), "2 warning 1 ? #1,2 longest_call_ns=999999000"}});
}

TEST(Limits, ThreadRelativeHandle)
{
    const std::string wait = "2@10+3 sync s=P2\n", use = "2@200 launch s=N1 k=use args=0x10000\n";
    auto after = [&](const std::string &more) { return "1@0 launch s=P1 k=make args=0x10000\n" + more + wait + use; };
    auto many = [&](unsigned count) {
        std::string text = "1@0 launch s=P1 k=make args=0x10000\n";
        for (unsigned i = 1; i <= count; i++)
            text += "1@" + std::to_string(i) + " launch s=P1 k=other args=" + std::to_string(0x20000 + i * 4096) + "\n";
        return text + "2@100+3 sync s=P2\n" + use;
    };
    Hold("thread-relative-handle",
         {{"what it should have waited for", after(""), "0 warning 1 ? #1 after_ns=190000"},
          {"the one of several streams that it is", after("3@1 launch s=P3 k=other args=0x90000\n"),
           "0 warning 1 ? #1 after_ns=190000"},
          {"the one of several streams that it is, opened last",
           "3@0 launch s=P3 k=other args=0x90000\n1@1 launch s=P1 k=make args=0x10000\n" + wait + use,
           "0 warning 1 ? #2 after_ns=190000"},
          {"it was done", "1@0 launch s=P1 k=make args=0x10000\n1@2+3 sync s=P1\n" + wait + use, ""},
          {"the thread's own stream",
           "2@0 launch s=P2 k=make args=0x10000\n2@2+3 sync s=P2\n2@6+3 sync s=P2\n2@20 launch s=P2 k=use args=0x10000\n",
           ""},
          {"it waited for something", after("2@5 launch s=P2 k=own\n"), ""},
          {"it waited again, for all", after("").substr(0, after("").size() - use.size()) + "2@20+3 ctx-sync\n" + use, ""},
          {"another context",
           after("").substr(0, after("").size() - use.size()) + "2@200 launch s=N1 ctx=2 k=use args=0x10000\n", ""},
          {"the last sixteen are remembered", many(15), "0 warning 1 ? #1 after_ns=100000"},
          {"and not one more", many(16), ""}});
}

TEST(Limits, StreamSwitchingFromItsNumberOfSwitches)
{
    auto hops = [](unsigned streams, unsigned count, unsigned at = 0) {
        std::string text;
        for (unsigned i = 0; i < count; i++) {
            std::string s = std::to_string(i % streams + 1), next = std::to_string((i + 1) % streams + 1);
            text += Each(++at, 1, 1, "launch s=N" + s + " k=a");
            text += Each(++at, 1, 1, "record s=N" + s + " e=E" + s);
            text += Each(++at, 1, 1, "wait s=N" + next + " e=E" + s);
        }
        return text;
    };
    auto idle = [](unsigned count) {
        std::string text = "1@0 record s=N1 e=E\n";
        return text + Each(1, count, 1, "wait s=N2 e=E") + Each(500, 10, 1, "launch s=N2 k=a");
    };
    Hold("stream-switching",
         {{"a hundred of them", hops(2, 100), "1 warning 100 ? waits_per_1000=1000"},
          {"fewer that fill half of the run", hops(2, 16), "1 warning 16 ? waits_per_1000=1000"},
          {"too few", hops(2, 15), ""},
          {"as many streams as are looked at", hops(9, 200), "1 warning 200 ? waits_per_1000=1000"},
          {"more", hops(10, 200), ""},
          {"waits for nothing", idle(100), "0 note 100 ? waits_per_1000=10000"},
          {"a tenth is good for something", hops(2, 90) + "1@400 launch s=N7 k=a\n" + hops(2, 10, 400),
           "1 note 90 ? waits_per_1000=990"},
          {"more than that is", hops(2, 90) + "1@400 launch s=N7 k=a\n" + hops(2, 11, 400), ""},
          {"of much work", hops(2, 100) + Each(1000, 900, 1, "launch s=N1 k=a"), "1 note 100 ? waits_per_1000=100"},
          {"of more work", hops(2, 100) + Each(1000, 901, 1, "launch s=N1 k=a"), ""}});
}

TEST(Limits, EventMisuseOfEachKind)
{
    const std::string made = "1@0 event-create e=E flags=2\n", timing = "1@0 event-create e=E flags=0\n";
    auto records = [](unsigned count) { return Each(10, count, 1, "record s=N1 e=E") + "1@90 wait s=N2 e=E\n"; };
    Hold("event-misuse",
         {{"sixteen recordings with a time", timing + records(16), "2 note 1 ? records=16"},
          {"too few", timing + records(15), ""},
          {"without a time", made + records(16), ""},
          {"for other processes", "1@0 event-create e=E flags=4\n" + records(16), ""},
          {"made by something else", "1@0 event-create e=E flags=0 api=cudaEventCreate\n" + records(16), ""},
          {"nobody waits for it", timing + Each(10, 16, 1, "record s=N1 e=E"), ""},
          {"some time is read", timing + records(16) + "1@95 elapsed e=E\n", ""},
          {"said when it is destroyed", timing + records(16) + "1@95 event-destroy e=E\n", "2 note 1 ? records=16"},
          {"the next one there begins anew",
           timing + records(10) + "1@95 event-destroy e=E\n1@96 event-create e=F flags=0\n" +
               Each(100, 10, 1, "record s=N1 e=F") + "1@190 wait s=N2 e=F\n",
           ""},
          {"never recorded", made + "1@1 wait s=N1 e=E\n", "0 warning 1 ?"},
          {"nor waited for by the host", made + "1@1+2 event-sync e=E\n", "0 warning 1 ?"},
          {"made elsewhere", "1@1 wait s=N1 e=E\n", ""},
          {"the first round of a ring", made + "1@1 wait s=N1 e=E\n1@2 record s=N1 e=E\n1@3 wait s=N1 e=E\n", "3 note 1 ?"},
          {"another thread's round", made + "1@1 wait s=N1 e=E\n2@2 record s=N1 e=E\n2@3 wait s=N1 e=E\n", "0 warning 1 ?"},
          {"two threads' first rounds",
           made + "1@1 wait s=N1 e=E site=a\n2@2 wait s=N2 e=E site=b\n1@3 record s=N1 e=E\n1@4 wait s=N1 e=E\n",
           "0 warning 1 ?; 3 note 1 ?"},
          {"another thread's recording", made + "1@1 record s=N1 e=E\n2@2 record s=N2 e=E\n1@3 wait s=N3 e=E\n",
           "1 warning 1 ? #2"},
          {"another's, and another ring's first round",
           made + "1@0 event-create e=F flags=2\n1@1 record s=N1 e=E\n2@2 record s=N2 e=E\n1@3 wait s=N3 e=E\n"
                  "1@4 wait s=N1 e=F\n1@5 record s=N1 e=F\n1@6 wait s=N1 e=F\n",
           "1 warning 1 ? #2; 3 note 1 ?"},
          {"on the same stream", made + "1@1 record s=N1 e=E\n2@2 record s=N1 e=E\n1@3 wait s=N3 e=E\n", ""},
          {"its own once more", made + "1@1 record s=N1 e=E\n2@2 record s=N2 e=E\n1@3 record s=N1 e=E\n1@4 wait s=N3 e=E\n",
           ""},
          {"its own once more, another's into a graph",
           made + "1@1 record s=N1 e=E\n2@2 record s=N2 e=E capturing capture-open g=0\n1@3 record s=N3 e=E\n"
                  "1@4 wait s=N4 e=E\n",
           ""},
          {"of a generation before", made + "1@1 record s=N1 e=E\n2@2 record s=N2 e=E\n1@3 wait s=N3 e=E g=1\n", ""},
          {"once", made + "1@1 record s=N1 e=E\n2@2 record s=N2 e=E\n1@3 wait s=N3 e=E\n1@4 wait s=N3 e=E\n",
           "1 warning 1 ? #2"},
          {"a recording that failed", made + "1@1 record s=N1 e=E\n2@2 record s=N2 e=E result=1\n1@3 wait s=N3 e=E g=1\n",
           ""}});
}

TEST(Limits, QuerySpinFromItsNumberOfQueriesCloseTogether)
{
    auto spin = [](unsigned count, unsigned apart, const std::string &query = "query s=N1 result=600") {
        std::string text = "1@0 launch s=N1 k=a\n";
        for (unsigned i = 0; i < count; i++)
            text += "1@" + std::to_string(100 + i * apart) + " " + query + "\n";
        return text;
    };
    Hold("query-spin",
         {{"a hundred", spin(100, 10), "1 note 1 990000 spins=1 queries=100 longest_spin_ns=990000"},
          {"too few", spin(99, 10), ""},
          {"all at once", spin(100, 0), "1 note 1 0 spins=1 queries=100 longest_spin_ns=0"},
          {"the longest gap", spin(100, 100), "1 note 1 9900000 spins=1 queries=100 longest_spin_ns=9900000"},
          {"too long a gap", spin(100, 101), ""},
          {"of an event", "1@1 record s=N1 e=E\n" + spin(103, 10, "event-query e=E result=600"),
           "0 note 4 1020000 spins=1 queries=103 longest_spin_ns=1020000"},
          {"an answer ends it", spin(99, 10) + "1@1090 query s=N1 result=0\n" + Each(1100, 99, 1, "query s=N1 result=600"),
           ""},
          {"two spins", spin(110, 10) + "1@1300 query s=N1 result=0\n" + Each(1400, 100, 1, "query s=N1 result=600"),
           "1 note 12 1189000 spins=2 queries=210 longest_spin_ns=1090000"},
          {"of two streams by turns", Each(100, 99, 1, "query s=N1 result=600") + Each(200, 99, 1, "query s=N2 result=600"),
           ""},
          {"another thread's", Each(100, 60, 1, "query s=N1 result=600") + Each(100, 60, 2, "query s=N1 result=600"), ""}});
}

TEST(Limits, UselessSyncOnlyWhereThereWasNothingToWaitFor)
{
    const std::string first = "1@0 launch s=N1 k=a\n1@10+900 sync s=N1\n";
    Hold("useless-sync",
         {{"it had nothing to wait for", first + "1@1000+20 sync s=N1\n", "0 note 1 20000"},
          {"too long for that", first + "1@1000+21 sync s=N1\n", ""},
          {"another thread waited", "1@0 launch s=N1 k=a\n2@10+900 sync s=N1\n1@1000+3 sync s=N1\n", ""},
          {"both waited", first + "2@1000+3 sync s=N1\n2@1010+3 sync s=N1\n", "0 note 1 3000"},
          {"a time is read after it", first + "1@995 record s=N1 e=E\n1@1000+3 sync s=N1\n1@1010 elapsed e=E\n", ""},
          {"another thread reads one", first + "1@1000+3 sync s=N1\n2@1010 elapsed e=E\n", "0 note 1 3000"},
          {"a wait for all", first + "1@1000+4 ctx-sync\n1@1010+5 ctx-sync\n", "0 note 2 9000"},
          {"before the first kernel", "1@0+3 sync s=N1\n1@10+3 sync s=N1\n", ""},
          {"records are missing", first + "1@1000+3 sync s=N1\nlost 2@1100 none\n", ""}});
}

/* What a call took beyond a quick one, where it had something to wait for. */
TEST(Limits, BlockedTimeIsWhatAWaitTakesBeyondAQuickOne)
{
    auto blocked = [](const std::string &text) {
        Built report(BuildTrace(text));
        return report->totals.blocked_ns;
    };
    const std::string work = "1@0 launch s=N1 k=a\n";
    EXPECT_EQ(26000u, blocked(work + "1@10+46 sync s=N1\n")) << "less the 20 us that a quick one takes";
    EXPECT_EQ(0u, blocked(work + "1@10+45 sync s=N1\n")) << "not twice as long";
    EXPECT_EQ(0u, blocked("1@10+900 sync s=N1\n")) << "nothing to wait for";
    EXPECT_EQ(11929u, blocked("1@0+4 sync s=N1\n1@5+3 sync s=N1\n1@20 launch s=N1 k=a\n1@30+15 sync s=N1\n"))
        << "quick ones are quicker, as far as durations are kept";
    EXPECT_EQ(0u, blocked("1@0+4 sync s=N1\n1@5+3 sync s=N1\n1@20 launch s=N1 k=a\n1@30+11 sync s=N1\n"));
    EXPECT_EQ(0u, blocked(work + "1@10+405 module-load\n"));
    EXPECT_EQ(0u, blocked(work + "1@10+9000 module-load\n")) << "it may only have loaded";
    EXPECT_EQ(46000u, blocked(work + "1@10+74 copy s=N1 implicit from=device to=pageable bytes=64000\n"))
        << "64000 bytes take 8 us";
    EXPECT_EQ(0u, blocked(work + "1@10+61 copy s=N1 implicit from=device to=pageable bytes=64000\n"));
    EXPECT_EQ(0u, blocked(work + "1@10+61 copy s=N1 implicit from=device to=pageable bytes=6400 height=10 pitch=6400\n"));
    EXPECT_EQ(42000u, blocked(work + "1@10+62 copy s=N1 implicit from=device to=pageable bytes=0\n"));
}

/* An allocation beside nothing pending: long, and beyond what its size explains. */
TEST(Limits, BlockingAllocationsBeyondTheTimeThatTheirSizeTakes)
{
    const std::string begun = "1@0 launch s=N1 k=first\n1@1+4 sync s=N1\n";
    Hold("blocking-pin",
         {{"it is beyond a megabyte's time", begun + "1@100+11100 alloc-host ptr=0x7f0000000000 bytes=1000000\n",
           "1 note 1 10900000 largest_bytes=1000000 bytes=1000000 longest_call_ns=11100000"},
          {"short", begun + "1@100+1100 alloc-host ptr=0x7f0000000000 bytes=1000000\n", ""},
          {"so much takes so long", begun + "1@100+11100 alloc-host ptr=0x7f0000000000 bytes=30000000\n",
           "1 note 1 10900000 largest_bytes=30000000 bytes=30000000 longest_call_ns=11100000"}});
    Hold("blocking-alloc", {{"long", begun + "1@100+11000 alloc ptr=0x10000 bytes=4096\n",
                             "1 note 1 10800000 largest_bytes=4096 bytes=4096 longest_call_ns=11000000"},
                            {"less long", begun + "1@100+9000 alloc ptr=0x10000 bytes=4096\n", ""},
                            {"large", begun + "1@100+11000 alloc ptr=0x10000 bytes=1000000000\n",
                             "1 note 1 10800000 largest_bytes=1000000000 bytes=1000000000 longest_call_ns=11000000"}});
}

/* A wait for the legacy stream that the policy left there counts if it was one. */
TEST(Limits, HalfRemappedOnlyWhereSomeWorkMoved)
{
    const std::string moved = "setting policy=per-thread\n1@0 launch s=L to=P1 k=a\n";
    Hold("half-remapped", {{"a wait", moved + "1@10+3 sync s=L kept-excluded\n", "2 note 1 ?"},
                           {"it failed", moved + "1@10+3 sync s=L kept-excluded result=700\n", ""},
                           {"work", moved + "1@10 launch s=L k=b kept-excluded\n", "2 warning 1 ?"},
                           {"work that failed", moved + "1@10 launch s=L k=b kept-excluded result=700\n", ""}});
}

TEST(Limits, ProcessSwitchesAreOnUnlessEmptyOrZero)
{
    for (const char *setting : {"CUDA_LAUNCH_BLOCKING=1", "CUDA_LAUNCH_BLOCKING=2", "PTDS_SHAKE=7"})
        EXPECT_NE("", Of("process-switch", "setting " + std::string(setting) + "\n1@0 launch s=N1 k=a\n")) << setting;
    for (const char *setting : {"CUDA_LAUNCH_BLOCKING=0", "CUDA_LAUNCH_BLOCKING=", "CUDA_LAUNCH=1", "PTDS_SHAKE="})
        EXPECT_EQ("", Of("process-switch", "setting " + std::string(setting) + "\n1@0 launch s=N1 k=a\n")) << setting;
    for (const char *api :
         {"cuCtxSetFlags", "cuCtxSetFlags_v2", "cuDevicePrimaryCtxSetFlags", "cuDevicePrimaryCtxSetFlags_v2"})
        for (bool on : {true, false})
            EXPECT_EQ(on,
                      "" != Of("process-switch", std::string("1@0 config flags=") + (on ? "0x84" : "0x7f") + " api=" + api))
                << api;
    EXPECT_EQ("", Of("process-switch", "1@0 config flags=0x84 api=cuCtxSetFlag\n"));
    EXPECT_NE("", Of("process-switch", "1@0+5 ctx-create flags=0x84\n"));
    EXPECT_EQ("", Of("process-switch", "1@0+5 ctx-create flags=0x7f\n"));
    EXPECT_EQ("", Of("process-switch", "1@0+5 ctx-create\n")) << "older traces do not say";
    EXPECT_EQ("", Of("process-switch", "1@0+5 ctx-create flags=0x84 result=2\n"));
}

/* Work that comes behind another thread's host function on the thread that runs them all. */
TEST(Limits, HostFunctionsThatAreLongOrHoldUpOthers)
{
    auto runs = [](unsigned first, unsigned begin, unsigned next) {
        return "1@0 host-function s=N1\n1@10 launch s=N1 k=after\n1@20 host-function s=N2\n1@30 launch s=N2 k=after\n"
               "host-run 1@0 5+" +
               std::to_string(first) + " s=N1\nhost-run 1@20 " + std::to_string(begin) + "+" + std::to_string(next) +
               " s=N2\n1@9000 none\n";
    };
    Hold("host-function-serialises",
         {{"50 us are short", runs(49, 60, 2), ""},
          {"longer is not", runs(51, 60, 2),
           "0 note 1 ? longest_run_ns=51000; 1 note 1 ? longest_run_ns=51000 held_host_functions=1"},
          {"one after the other", runs(3000, 3010, 2),
           "0 note 1 ? longest_run_ns=3000000; 1 note 1 ? longest_run_ns=3000000 held_host_functions=1"},
          {"long after it", runs(20, 4000, 2000), "0 note 1 ? longest_run_ns=2000000"}});
}

} // namespace
} // namespace ptds
