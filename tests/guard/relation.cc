/* SPDX-License-Identifier: Apache-2.0
 *
 * relation [CALLS] [PROGRAMS] [SEED]: legacy order as legacy.h has it, which the guard's decision is held against, held
 * itself against the driver that is there. Every program of up to CALLS calls over two threads and four kinds of streams
 * (differing by more than names), then PROGRAMS longer ones by chance. In each program each kernel in turn is a gate:
 * what legacy.h puts behind it must not have run while it is shut, and all else must; a query must say NOT_READY where a
 * host that synchronised there would wait for the gate, else SUCCESS. An ordinary CUDA program, for the simulated driver
 * (relation_test) and a GPU (scripts/gpu handovers).
 */
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <semaphore.h>
#include <thread>
#include <time.h>
#include <vector>

#include "tests/guard/legacy.h"
#include "tests/guard/two_threads.h"

extern "C" {
#include "tests/apps/app.h"
}

namespace ptds_test
{
namespace
{

enum { kRelationEvents = 2, kGateWord = kMostCalls, kControlWord, kWords, kStride = 16, kPatienceMs = 5000 };

void nap_us(long us)
{
    const timespec t = {0, us * 1000};
    nanosleep(&t, nullptr);
}

/* A thread that makes one call after the other, as it is told. */
class Caller
{
public:
    explicit Caller(const app &app) : app_(app), thread_([this] { run(); })
    {
    }
    ~Caller()
    {
        task_ = nullptr;
        sem_post(&given_);
        thread_.join();
    }
    template <class Task> void call(Task task)
    {
        auto run_task = [](void *argument) { (*static_cast<Task *>(argument))(); };
        task_ = run_task;
        argument_ = &task;
        sem_post(&given_);
        await(&done_);
    }

private:
    static void await(sem_t *s)
    {
        while (sem_wait(s) != 0)
            ;
    }
    void run()
    {
        app_thread(&app_);
        for (await(&given_); task_; await(&given_)) {
            task_(argument_);
            sem_post(&done_);
        }
    }

    const app &app_;
    void (*task_)(void *) = nullptr;
    void *argument_ = nullptr;
    sem_t given_ = semaphore(), done_ = semaphore();
    std::thread thread_;

    static sem_t semaphore()
    {
        sem_t s;
        sem_init(&s, 0, 0);
        return s;
    }
};

/* The driver's side: streams by their index, made ahead of the gate, since making one may wait for kernels. */
class Machine
{
public:
    Machine()
    {
        void *host;
        app_start(&app_);
        CU(cuModuleGetFunction(&mark_, app_.module, "mark"));
        CU(cuMemHostAlloc(&host, sizeof(uint32_t) * kWords * kStride,
                          CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_PORTABLE));
        words_ = static_cast<uint32_t *>(host);
        CU(cuMemHostGetDevicePointer(&address_, host, 0));
        CU(cuStreamCreate(&control_, CU_STREAM_NON_BLOCKING));
        for (CUevent &event : events_)
            CU(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
        other_ = new Caller(app_);
        prepare(Program());
        for (int s = 0; s < kStreams; s++)
            in_thread(s == kZero1 || s == kPerThread1, [&] { launch(mark_, handle(s), kControlWord); });
        CU(cuCtxSynchronize());
    }
    ~Machine()
    {
        delete other_;
    }

    /* Everything is idle; as many streams of each name as the program destroys, and one. */
    void prepare(const Program &program)
    {
        memset(words_, 0, sizeof(uint32_t) * kWords * kStride);
        for (int s = kBlocking0; s < kStreams; s++) {
            size_t wanted = 1;
            for (const Call &call : program.calls)
                wanted += call.op == Op::Close && call.stream == s;
            while (created_[s].size() < wanted) {
                CUstream stream;
                CU(cuStreamCreate(&stream, s < kNonBlocking0 ? CU_STREAM_DEFAULT : CU_STREAM_NON_BLOCKING));
                created_[s].push_back(stream);
            }
        }
        began_ms_ = app_now_ms();
    }
    /* What the call says; `word` is the one that its kernel sets. */
    CUresult make(const Call &call, int word, bool gate)
    {
        CUresult result = CUDA_SUCCESS;
        in_thread(call.thread, [&] { result = do_call(call, word, gate); });
        return result;
    }
    void open()
    {
        store(kGateWord, 1);
        CU(cuCtxSynchronize());
    }
    bool has_run(int word) const
    {
        return __atomic_load_n(&words_[word * kStride], __ATOMIC_ACQUIRE) != 0;
    }
    bool runs(int word) const
    {
        while (!has_run(word)) {
            if (app_now_ms() - began_ms_ > kPatienceMs)
                return false;
            nap_us(10);
        }
        return true;
    }
    /* As long as a kernel takes that waits for nothing, twice: what has not run by then is held back. */
    void let_others_run()
    {
        for (int i = 0; i < 2; i++) {
            store(kControlWord, 0);
            launch(mark_, control_, kControlWord);
            runs(kControlWord);
        }
    }

private:
    template <class Task> void in_thread(bool other, Task task)
    {
        if (other)
            other_->call(task);
        else
            task();
    }
    CUstream handle(int stream) const
    {
        if (stream >= kBlocking0)
            return created_[stream].back();
        return stream == kPerThread0 || stream == kPerThread1 ? CU_STREAM_PER_THREAD : nullptr;
    }
    void launch(CUfunction kernel, CUstream stream, int word)
    {
        CUdeviceptr at = address_ + CUdeviceptr(word) * kStride * sizeof(uint32_t);
        uint32_t one = 1;
        void *params[] = {&at, &one};
        CU(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, params, nullptr));
    }
    CUresult do_call(const Call &call, int word, bool gate)
    {
        switch (call.op) {
        case Op::Work: launch(gate ? app_.hold : mark_, handle(call.stream), gate ? int(kGateWord) : word); break;
        case Op::Record: CU(cuEventRecord(events_[call.event], handle(call.stream))); break;
        case Op::Wait: CU(cuStreamWaitEvent(handle(call.stream), events_[call.event], 0)); break;
        case Op::Close:
            CU(cuStreamDestroy(handle(call.stream)));
            created_[call.stream].pop_back();
            break;
        case Op::Sync: return cuStreamQuery(handle(call.stream));
        case Op::EventSync: return cuEventQuery(events_[call.event]);
        default: abort();
        }
        return CUDA_SUCCESS;
    }
    void store(int word, uint32_t value)
    {
        __atomic_store_n(&words_[word * kStride], value, __ATOMIC_RELEASE);
    }

    app app_;
    CUfunction mark_;
    uint32_t *words_;
    CUdeviceptr address_;
    CUstream control_;
    CUevent events_[kRelationEvents];
    std::vector<CUstream> created_[kStreams];
    double began_ms_ = 0;
    Caller *other_;
};

/* One program with one gate. */
class Trial
{
public:
    Trial(Machine &machine, const Program &program, int gate)
        : machine_(machine), program_(program), legacy_(program.world), gate_(gate)
    {
    }

    /* Empty, or what differs. */
    std::string run()
    {
        const int count = program_.calls.size();
        machine_.prepare(program_);
        for (int i = 0; i < count && said_.empty(); i++)
            step(i);
        if (said_.empty())
            look();
        machine_.open();
        for (int i = 0; i < count && said_.empty(); i++)
            if (marks(i) && !machine_.has_run(i))
                differs(i, "never ran");
        return said_;
    }

private:
    bool marks(int i) const
    {
        return program_.calls[i].op == Op::Work && i != gate_;
    }
    bool behind_gate(int i) const
    {
        return i > gate_ && (legacy_.streams_before(i) >> gate_ & 1);
    }
    void differs(int i, const char *how)
    {
        said_ = "call " + std::to_string(i) + " " + how + ", the gate is call " + std::to_string(gate_);
    }
    void step(int i)
    {
        const Call &call = program_.calls[i];
        if (call.op == Op::Sync || call.op == Op::EventSync) {
            ask(i, call);
            return;
        }
        legacy_.add(i, call);
        made_ = i + 1;
        machine_.make(call, i, i == gate_);
    }
    /* It was recorded behind the gate. */
    bool event_is_behind_gate(int wait) const
    {
        int record = wait - 1;
        while (record >= 0 &&
               (program_.calls[record].op != Op::Record || program_.calls[record].event != program_.calls[wait].event))
            record--;
        return record >= 0 && behind_gate(record);
    }
    /* Behind the gate the stream has nothing but records, and waits for events that are done. A GPU calls such a stream
     * ready (measured, H100, driver 580): it has nothing to run, though its own events are not ready. */
    bool has_events_alone(const Call &call) const
    {
        if (call.op != Op::Sync || program_.calls[gate_].stream == call.stream ||
            program_.world.streams[call.stream].kind == StreamKind::Legacy)
            return false;
        for (int j = gate_ + 1; j < made_; j++) {
            const Call &before = program_.calls[j];
            const bool idle = before.op == Op::Record || (before.op == Op::Wait && !event_is_behind_gate(j));
            if (before.stream == call.stream && !idle && behind_gate(j))
                return false;
        }
        return true;
    }
    /* A query is no wait: it leaves no order behind. */
    void ask(int i, const Call &call)
    {
        Legacy then = legacy_;
        then.add(i, call);
        const bool busy = gate_ < i && (then.waited_by_streams(i) >> gate_ & 1);
        settle();
        if (busy && has_events_alone(call))
            return;
        CUresult result = machine_.make(call, i, false);
        for (int n = 0; !busy && result == CUDA_ERROR_NOT_READY && n < 100; n++) {
            nap_us(100);
            result = machine_.make(call, i, false);
        }
        if (result != (busy ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS))
            differs(i, busy ? "says ready" : "says busy");
    }
    /* Whatever may run has run. */
    void settle()
    {
        for (int i = 0; i < made_ && said_.empty(); i++)
            if (marks(i) && !behind_gate(i) && !machine_.runs(i))
                differs(i, "is held back");
    }
    void look()
    {
        settle();
        machine_.let_others_run();
        for (int i = 0; i < made_ && said_.empty(); i++)
            if (marks(i) && behind_gate(i) && machine_.has_run(i))
                differs(i, "is not held back");
    }

    Machine &machine_;
    const Program &program_;
    Legacy legacy_;
    const int gate_;
    int made_ = 0;
    std::string said_;
};

class Relation
{
public:
    Relation()
    {
        program_.world.add_domain(0, 2, 2, 2);
    }

    void all(size_t length)
    {
        extend(length, 0, false);
    }

    void by_chance(unsigned programs, unsigned seed)
    {
        srand(seed);
        for (unsigned n = 0; n < programs; n++) {
            program_.calls.clear();
            bool recorded[kRelationEvents] = {};
            for (int count = 4 + rand() % 6; count; count--)
                program_.calls.push_back(any_call(recorded));
            try_gates();
        }
    }

    int end(double began)
    {
        printf("%ld programs, %ld gates, %ld differ\n", programs_, gates_, differ_);
        return app_finish(!differ_ && gates_, app_digest(APP_DIGEST, &gates_, sizeof gates_), app_now_ms() - began);
    }

private:
    Call any_call(bool *recorded)
    {
        static const Op ops[] = {Op::Work, Op::Work, Op::Work, Op::Work,      Op::Record, Op::Record,
                                 Op::Wait, Op::Wait, Op::Sync, Op::EventSync, Op::Close};
        Call call;
        call.stream = rand() % kStreams;
        call.event = rand() % kRelationEvents;
        call.op = ops[size_t(rand()) % (sizeof ops / sizeof *ops)];
        if ((call.op == Op::Close && call.stream < kBlocking0) ||
            ((call.op == Op::Wait || call.op == Op::EventSync) && !recorded[call.event]))
            call.op = Op::Work;
        recorded[call.event] = recorded[call.event] || call.op == Op::Record;
        call.thread = thread_of(call.stream, rand() % 2);
        return call;
    }

    static uint8_t thread_of(int stream, int any)
    {
        return stream >= kBlocking0 ? uint8_t(any) : stream == kZero1 || stream == kPerThread1;
    }

    static bool is_possible(Op op, int stream, unsigned used, bool recorded, bool last)
    {
        switch (op) {
        case Op::Record: return !last;
        case Op::Wait: return recorded && !last;
        case Op::Close: return stream >= kBlocking0 && (used >> stream & 1) && !last;
        case Op::EventSync: return recorded && stream == kZero0 && last; /* it names no stream */
        case Op::Sync: return last;
        default: return true;
        }
    }

    void extend(size_t length, unsigned used, bool recorded)
    {
        const bool last = program_.calls.size() + 1 == length;
        for (int stream = 0; stream < kStreams; stream++)
            for (Op op : {Op::Work, Op::Record, Op::Wait, Op::Close, Op::Sync, Op::EventSync}) {
                if (!in_turn(stream, used) || !is_possible(op, stream, used, recorded, last))
                    continue;
                Call call;
                call.op = op;
                call.stream = stream;
                call.thread = thread_of(stream, 0);
                program_.calls.push_back(call);
                if (last)
                    try_gates();
                else
                    extend(length, used | 1u << stream, recorded || op == Op::Record);
                program_.calls.pop_back();
            }
    }

    void try_gates()
    {
        programs_++;
        for (size_t gate = 0; gate + 1 < program_.calls.size(); gate++) {
            if (program_.calls[gate].op != Op::Work)
                continue;
            gates_++;
            const std::string said = Trial(machine_, program_, gate).run();
            if (!said.empty() && ++differ_ <= 10)
                printf("WRONG %s\n%s", said.c_str(), print(program_).c_str());
        }
    }

    Machine machine_;
    Program program_;
    long programs_ = 0, gates_ = 0, differ_ = 0;
};

} // namespace
} // namespace ptds_test

int main(int argc, char **argv)
{
    const double began = app_now_ms();
    setvbuf(stdout, nullptr, _IOLBF, 0);
    setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 1); /* streams that share a queue hold each other back */
    ptds_test::Relation relation;
    for (size_t length = 2; length <= app_number(argc, argv, 1, 4); length++)
        relation.all(length);
    relation.by_chance(app_number(argc, argv, 2, 1000), app_number(argc, argv, 3, 1));
    return relation.end(began);
}
