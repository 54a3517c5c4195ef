/* SPDX-License-Identifier: Apache-2.0
 *
 * A program for the simulated driver that takes its steps from standard input, one a line, and prints each with all that
 * the driver was asked because of it, with names for handles and addresses (asked_log.h). Its first argument is the file
 * that SIM_LOG names; where there is another, the trace, all that was recorded follows (asked_record.h). A thread takes its
 * steps in turn with the others; nothing but that tells it of theirs.
 * The steps are those of asked_steps.h; "bye" ends a thread, and the next step in it is a new one's.
 */
#include <condition_variable>
#include <functional>
#include <iostream>
#include <memory>
#include <mutex>
#include <thread>

#include "tests/interpose/asked_log.h"
#include "tests/interpose/asked_record.h"
#include "tests/interpose/asked_steps.h"

namespace
{

/* A thread that does what it is given. */
class Hand
{
public:
    Hand() : thread_([this] { work(); })
    {
    }
    ~Hand()
    {
        do_this([] {}, true);
        thread_.join();
    }
    void do_this(const std::function<void()> &work, bool ends = false)
    {
        std::unique_lock<std::mutex> locked(mutex_);
        work_ = work;
        ends_ = ends;
        given_ = true;
        changed_.notify_all();
        changed_.wait(locked, [this] { return !given_; });
    }

private:
    void work()
    {
        for (bool end = false; !end;) {
            std::unique_lock<std::mutex> locked(mutex_);
            changed_.wait(locked, [this] { return given_; });
            work_();
            end = ends_;
            given_ = false;
            changed_.notify_all();
        }
    }
    std::mutex mutex_;
    std::condition_variable changed_;
    std::function<void()> work_;
    bool given_ = false, ends_ = false;
    std::thread thread_;
};

std::unique_ptr<Hand> hands[4];

CUresult anywhere(const Step &step)
{
    CUresult result = CUDA_SUCCESS;
    if (step.thread == 1)
        return does(step);
    std::unique_ptr<Hand> &hand = hands[step.thread];
    if (!hand) {
        hand.reset(new Hand);
        hand->do_this(enter);
    }
    if (step.verb == "bye")
        hand.reset();
    else
        hand->do_this([&] { result = does(step); });
    return result;
}

} // namespace

int main(int argc, char **argv)
{
    AskedLog log(argc > 1 ? argv[1] : "");
    if (!start(&log))
        return 2;
    log.take();
    for (std::string text; std::getline(std::cin, text);) {
        const CUresult result = anywhere(parse(text));
        const std::string asked = log.take();
        std::cout << text << (asked.empty() ? "" : std::string(text.size() < 16 ? 16 - text.size() : 1, ' ')) << asked;
        if (result)
            std::cout << " = " << result;
        std::cout << "\n";
    }
    if (argc > 2)
        std::cout << AskedRecord(argv[2], [&log](uint64_t value) { return log.word(value); }).text();
    std::cout << std::flush;
    quick_exit(0);
}
