/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs with calls of all kinds at random, as text of trace_builder.h: some as a program makes them, some as none would.
 * What must be found in them nobody says; that it stays what it was, told_random_test.cc does.
 */
#ifndef PTDS_TESTS_ANALYSIS_RANDOM_RUN_H
#define PTDS_TESTS_ANALYSIS_RANDOM_RUN_H

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/analysis/random_choice.h"

namespace ptds
{

class RandomRun : private RandomChoice
{
public:
    explicit RandomRun(uint32_t seed) : RandomChoice(seed)
    {
        Settings();
        Habits();
        for (size_t i = Of({1, 1, 2, 3, 4, 8, 16}); i-- > 0;)
            Allocate();
        while (lines_ < calls_)
            Step();
        for (size_t i = 0; Chance(20) && i < streams_.size() && i < 3; i++)
            Line("stream-gone " + streams_[i] + "@" + std::to_string(1 + Pick(now_)));
        if (Chance(10))
            Line("in-flight " + std::to_string(Thread()) + "@" + std::to_string(now_ + 5000) + " sync s=L");
    }

    std::string text;

private:
    struct Memory {
        std::string name, kind;
        uint64_t base, bytes;
    };

    void Line(const std::string &line)
    {
        text += line + "\n";
        lines_++;
    }

    void Settings()
    {
        policy_ = Of({"observe", "observe", "observe", "none", "per-thread", "stream", "guarded", ""});
        moves_ = policy_ == "per-thread" || policy_ == "stream" || policy_ == "guarded";
        if (!policy_.empty())
            Line("setting policy=" + policy_);
        if (policy_ == "guarded" || (moves_ && Chance(30)))
            Line("setting guard=1");
        if (Chance(10))
            Line("setting PTDS_LANES=" + Of({"1", "2", "4"}));
        explicit_ = Chance(20) ? 25 : 0;
        if (explicit_ != 0 && Chance(60))
            Line("setting PTDS_EXPLICIT_LEGACY=remap");
        if (policy_ == "stream" && Chance(30))
            Line("setting PTDS_STREAM=nonblocking");
        for (const char *word : {"killed", "recycled", "refused"})
            if (Chance(3))
                Line(word);
        contexts_ = Of({1, 1, 1, 2, 3});
        for (size_t i = 2; i <= contexts_; i++)
            Line("context " + std::to_string(i));
    }

    /* What the program likes to do, in percent. */
    void Habits()
    {
        threads_ = Of({1, 2, 2, 3, 4, 6});
        const size_t streams = Of({1, 2, 3, 4, 8, 12, 30, 80});
        calls_ = std::max<size_t>(Of({12, 20, 40, 80, 120}), streams > 12 ? streams * 3 / 2 : 0);
        for (size_t i = 1; i <= streams; i++) {
            streams_.push_back((Chance(3) ? "U" : Of({"B", "B", "N"})) + std::to_string(i));
            context_of_[streams_.back()] = 1 + Pick(contexts_);
        }
        legacy_ = Pick(90);
        waits_ = Of({2, 10, 20});
        events_ = Of({0, 10, 30});
        memory_ = Of({2, 5, 15});
        hosts_ = Of({0, 0, 3, 10});
        captures_ = Of({0, 0, 0, 5});
        odd_ = Of({0, 2, 10});
        opaque_ = Of({0, 0, 3, 10});
        left_ = Of({0, 10, 30});
        lost_ = Of({0, 0, 0, 2});
        recordings_ = Of({1, 2, 4, 10});
        timed_ = Chance(50);
        on_device_ = Chance(30);
        in_bursts_ = Chance(40);
        same_ = Chance(50);
        for (std::string &kind : kinds_)
            kind = Of({"memset", "launch", "copy", "any"});
    }

    int Thread()
    {
        return static_cast<int>(1 + Pick(threads_));
    }

    /* A call at the thread's next moment; duration 0: it is not timed. */
    uint64_t Call(int thread, const std::string &what, size_t duration)
    {
        now_ = std::max(now_ + Of({1, 1, 2, 5, 50, 400}), free_at_[thread] + 1);
        const std::string when = std::to_string(thread) + "@" + std::to_string(now_);
        free_at_[thread] = now_ + duration;
        std::string site;
        if (Chance(60))
            site = " site=" + Of({"a", "b", "make", "loop1", "loop2", "gemm@libcublas.so.12", "py<-step:/a/train.py:41"});
        Line(when + (duration != 0 ? "+" + std::to_string(duration) : "") + " " + what + site);
        const uint64_t at = now_;
        if (Chance(lost_)) {
            now_ = free_at_[thread] = free_at_[thread] + 1;
            Line("lost " + std::to_string(thread) + "@" + std::to_string(now_) + " launch s=L k=gone");
        }
        return at;
    }

    void Allocate()
    {
        Memory made = {"M" + std::to_string(++made_), Of({"device", "device", "device", "managed", "pinned", "registered"}),
                       0, Of({256, 1024, 4096, 8192, 65536, 1 << 20})};
        if (Chance(25))
            made.kind = Of({"array", "pool", "mapped", "ipc", "pageable"});
        std::string more;
        if (!dead_.empty() && Chance(60)) { /* where another one was */
            size_t at = Pick(dead_.size());
            made.base = dead_[at];
            dead_.erase(dead_.begin() + static_cast<long>(at));
        } else if (!memories_.empty() && Chance(odd_)) { /* where another one is */
            made.base = Of({0, 64, 256});
            made.base += memories_[Pick(memories_.size())].base;
        } else {
            made.base = next_;
            next_ += Chance(30) ? made.bytes : (made.bytes + 0x10000) & ~uint64_t{0xfff};
        }
        if (!memories_.empty() && Chance(odd_ + 3))
            more = Joined({" ", Of({"of", "of", "same"}), "=", memories_[Pick(memories_.size())].name});
        const int thread = Thread();
        const std::string rest = " m=" + made.name + " ptr=" + std::to_string(made.base) +
                                 " bytes=" + std::to_string(made.bytes) +
                                 (contexts_ > 1 && Chance(50) ? " ctx=" + std::to_string(1 + Pick(contexts_)) : "");
        const std::string what = made.kind == "pinned"       ? "alloc-host" + rest
                                 : made.kind == "registered" ? "register" + rest
                                 : made.kind == "pool"       ? "alloc-async s=" + Stream(thread) + rest
                                                             : "alloc" + rest + " kind=" + made.kind + more;
        Call(thread, what, Of({3, 7, 100}));
        memories_.push_back(made);
    }

    void Free()
    {
        const size_t at = Pick(memories_.size());
        const Memory gone = memories_[at];
        const int thread = Thread();
        static const std::map<std::string, std::string> calls = {
            {"pinned", "free-host"}, {"registered", "unregister"}, {"array", "array-destroy"}, {"mapped", "unmap"}};
        auto found = calls.find(gone.kind);
        if (gone.kind == "pool" || (gone.kind == "device" && Chance(10)))
            Call(thread, "free-async s=" + Stream(thread) + " m=" + gone.name, 3);
        else
            Call(thread, (found != calls.end() ? found->second : "free") + " m=" + gone.name, Of({3, 5, 900}));
        dead_.push_back(gone.base);
        if (Chance(90)) /* else it is used on */
            memories_.erase(memories_.begin() + static_cast<long>(at));
    }

    std::string Stream(int thread)
    {
        if (Chance(legacy_))
            return "L";
        return Chance(5) ? "P" + std::to_string(thread) : streams_[Pick(streams_.size())];
    }

    /* " s=NAME", its context, and where the policy sends it. */
    std::string On(int thread, const std::string &stream, const std::string &key)
    {
        std::string on = " s=" + stream;
        const size_t context = context_of_.count(stream) != 0 ? context_of_[stream] : Chance(30) ? 1 + Pick(contexts_) : 1;
        if (context > 1)
            on += " ctx=" + std::to_string(context);
        if (stream == "L" && Chance(explicit_))
            on += " explicit";
        if (stream != "L" || !moves_)
            return on;
        if (Chance(left_))
            return on + Of({" kept-capture", " kept-refused", " kept-excluded", " kept-no-way", " explicit", ""});
        const std::string to = policy_ == "stream" ? "S9" : "P" + std::to_string(thread);
        on += " " + key + "=" + to;
        if (policy_ == "guarded" && Chance(50)) {
            const std::string behind = Chance(60) ? "P" + std::to_string(Thread()) : streams_[Pick(streams_.size())];
            if (behind != to)
                on += Joined({" behind=", behind,
                              Chance(30) ? "@" + std::to_string(now_ - std::min<uint64_t>(now_, Pick(10))) : "",
                              Chance(10) ? " shim-wait" : ""});
        }
        return on;
    }

    const Memory &Some()
    {
        return same_ && Chance(70) ? memories_.back() : memories_[Pick(memories_.size())];
    }

    std::string Place(const Memory &memory)
    {
        if (Chance(odd_))
            return std::to_string(Of({0x5000, 0x9000000, size_t{memory.base - 64}, size_t{memory.base + memory.bytes}}));
        if (Chance(60))
            return memory.name;
        return memory.name + "+" + std::to_string(Of({0, 64, 64, 256, memory.bytes / 2, memory.bytes - 64}));
    }

    std::string Bytes()
    {
        if (!Chance(10))
            return " bytes=" + Of({"4", "64", "256", "1024", "4096", "70000"});
        return Joined(
            {" bytes=", Of({"16", "64"}), " height=", Of({"1", "2", "4"}), " pitch=", Of({"0", "16", "64", "256"})});
    }

    std::string Launch()
    {
        struct Kernel {
            const char *name;
            size_t words;
        };
        static const Kernel kernels[] = {{"_Z4fillPf", 1},      {"_Z4readPKf", 1}, {"_Z4copyPKfPf", 2},
                                         {"_Z3addPKfS0_Pf", 3}, {"plain", 1},      {"plain2", 2},
                                         {"_Z5mixedPfPKfi", 3}, {"_Z4busyv", 0},   {"_Z2ppPPf", 1},
                                         {"_Z4bothPKfPKi", 2},  {"_Z1kPiPKfPd", 3}};
        const Kernel &kernel = kernels[Pick(11)];
        std::string args;
        for (size_t i = 0; i < kernel.words; i++)
            args += (i == 0 ? " args=" : ",") + (Chance(5) ? "-" : Place(Some()));
        std::string what = std::string(" k=") + kernel.name + args;
        if (Chance(3))
            what = Joined({" k=vars", Of({"1", "2", "3"}), args, " vars=", Of({"Gl", "=Gl", "Gm", "old"})});
        if (Chance(30))
            what += " blocks=" + Of({"1", "8", "64", "500"});
        if (Chance(4))
            what += Joined({" reaches=", Of({"", "="}), Some().name});
        return what + (Chance(odd_ / 2) ? " words=plain" : "");
    }

    std::string Copy(bool implicit)
    {
        const Memory &one = Some(), &two = Some();
        std::string from = one.kind, to = two.kind, source = Place(one), destination = Place(two);
        const size_t host = Pick(100);
        if (host < 15) {
            from = "pageable";
            source = "0x7f0000100" + Of({"000", "100", "800"});
        } else if (host < 30) {
            to = "pageable";
            destination = "0x7f0000200" + Of({"000", "100", "800"});
        }
        return std::string(implicit ? " implicit" : "") + " src=" + source + " dst=" + destination + " from=" + from +
               " to=" + to + Bytes();
    }

    void Work(int thread, const std::string &stream)
    {
        std::string kind = kinds_[Pick(3)], what;
        if (kind == "any")
            kind = Of({"memset", "launch", "copy"});
        if (Chance(3))
            kind = "graph-launch";
        const bool implicit = kind == "copy" && Chance(30);
        const std::string on = On(thread, stream, kind == "memset" || kind == "copy" ? "target" : "to");
        size_t duration = timed_ || Chance(10) ? Of({2, 3, 4, 5}) : 0;
        if (kind == "memset") {
            const Memory &memory = Some();
            what = Joined({Chance(10) ? " implicit dst=" : " dst=", Place(memory), " to=", memory.kind, Bytes()});
        } else if (kind == "copy") {
            what = Copy(implicit);
            duration = implicit ? Of({5, 20, 200, 2000}) : duration;
        } else if (kind == "launch") {
            what = Launch();
        }
        if (Chance(opaque_))
            what += Of({" opaque", " opaque", " host-memory", " why-pointers"});
        if (kind != "graph-launch" && !capturing_.empty())
            what += capturing_.count(stream) != 0 ? " capturing capture-open" : Chance(50) ? " capture-open" : "";
        if (Chance(1))
            what += " result=700";
        const uint64_t at = Call(thread, kind + on + what, duration);
        if (!on_device_ || Chance(30))
            return;
        const uint64_t begin = std::max(device_until_, at + Of({1, 5})), runs = Of({5, 30, 300});
        device_until_ = Chance(70) ? begin + runs : device_until_;
        Line("device-run " + std::to_string(thread) + "@" + std::to_string(at) + " " + std::to_string(begin) + "+" +
             std::to_string(runs));
    }

    void Wait()
    {
        const int thread = Thread();
        const size_t what = Pick(100), duration = Of({2, 3, 30, 600, 2000});
        const std::string stream = Stream(thread);
        if (what < 60)
            Call(thread, "sync" + On(thread, stream, "to"), duration);
        else if (what < 75)
            Call(thread, contexts_ > 1 ? "ctx-sync ctx=" + std::to_string(1 + Pick(contexts_)) : "ctx-sync", duration);
        else if (what < 90)
            Call(thread, Joined({"query", On(thread, stream, "to"), Of({" result=0", " result=600"})}), 1);
        else if (!recorded_.empty())
            Call(thread, "event-sync e=" + Recorded(), duration);
    }

    std::string Recorded()
    {
        return *std::next(recorded_.begin(), static_cast<long>(Pick(recorded_.size())));
    }

    void Event()
    {
        const int thread = Thread();
        const size_t what = Pick(100), duration = timed_ ? 2 : 0;
        const std::string event = "E" + std::to_string(1 + Pick(recordings_)), on = On(thread, Stream(thread), "to");
        if (what < 45 || recorded_.empty()) {
            Call(thread, "record" + on + " e=" + event, duration);
            recorded_.insert(event);
        } else if (what < 85) {
            Call(thread, Joined({"wait", on, " e=", Recorded(), Chance(5) ? Of({" g=0", " g=1", " g=2"}) : ""}), duration);
        } else if (what < 89) {
            Call(thread, Joined({"event-query e=", Recorded(), Of({" result=0", " result=600"})}), 1);
        } else {
            Call(thread, Of({"event-destroy", "event-create flags=2", "event-create flags=0", "elapsed"}) + " e=" + event,
                 1);
        }
    }

    void Host()
    {
        const int thread = Thread();
        const std::string stream = Stream(thread);
        const uint64_t at = Call(thread, "host-function" + On(thread, stream, "to"), 4);
        if (Chance(50))
            Line(Joined({"host-run ", std::to_string(thread), "@", std::to_string(at), " ",
                         std::to_string(at + Of({5, 70, 900})), "+", Of({"15", "300"}), " s=", stream}));
    }

    void Capture()
    {
        const std::string stream = streams_[Pick(streams_.size())];
        if (capturing_.insert(stream).second) {
            Call(Thread(), "capture-begin s=" + stream, 3);
            return;
        }
        capturing_.erase(stream);
        Call(Thread(), "capture-end s=" + stream, 5);
    }

    void Odd()
    {
        const int thread = Thread();
        size_t duration = 0;
        const std::string on = On(thread, Stream(thread), "to"), word = " ptr=" + std::to_string(Some().base);
        switch (Pick(6)) {
        case 0: Call(thread, "wait-value" + on + word, 3); break;
        case 1: Call(thread, "write-value" + on + word, 3); break;
        case 2: Call(thread, "opaque" + on, 600); break;
        case 3: Call(thread, "attach" + on + " m=" + Some().name, 4); break;
        case 4: Call(thread, "stream-create s=" + streams_[Pick(streams_.size())], 4); break;
        default:
            duration = Of({4, 600});
            Call(thread, Of({"module-load", "module-unload", "none", "ctx-limit", "function-load", "config"}), duration);
        }
    }

    void Step()
    {
        size_t what = Pick(100);
        auto is = [&what](size_t percent) {
            const bool so = what < percent;
            what -= so ? 0 : percent;
            return so;
        };
        if (is(waits_))
            return Wait();
        if (is(events_))
            return Event();
        if (is(memory_))
            return memories_.size() > 1 && Chance(50) ? Free() : Allocate();
        if (is(hosts_))
            return Host();
        if (is(captures_))
            return Capture();
        if (is(odd_ / 2))
            return Odd();
        const int thread = Thread();
        const std::string stream = Stream(thread);
        for (size_t i = in_bursts_ ? Of({1, 1, 1, 3, 6}) : 1; i-- > 0;)
            Work(thread, stream);
    }

    std::string policy_, kinds_[3];
    bool moves_ = false, timed_ = false, on_device_ = false, in_bursts_ = false, same_ = false;
    size_t contexts_ = 1, threads_ = 1, calls_ = 0, lines_ = 0, made_ = 0, legacy_ = 0, waits_ = 0, events_ = 0,
           memory_ = 0, hosts_ = 0, captures_ = 0, odd_ = 0, opaque_ = 0, left_ = 0, lost_ = 0, recordings_ = 1,
           explicit_ = 0;
    uint64_t now_ = 1, next_ = 0x100000, device_until_ = 0;
    std::vector<std::string> streams_;
    std::map<std::string, size_t> context_of_;
    std::map<int, uint64_t> free_at_;
    std::vector<Memory> memories_;
    std::vector<uint64_t> dead_;
    std::set<std::string> recorded_, capturing_;
};

} // namespace ptds

#endif
